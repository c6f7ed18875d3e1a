/* One-time initialisation: once per rank. */
#include "ranks.h"

static int ready;  //~ ready: private
static int *table; //~ table: private
static int room[4]; //~ room: private

static int *get(void) {
    if (!ready) {
        ready = 1;
        table = room;
        for (int i = 0; i < 4; i++)
            table[i] = my_rank();
    }
    return table;
}

int main(void) {
    get();
    all_here();
    return get()[3] != my_rank() || get() != room;
}
