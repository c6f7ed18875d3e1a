/* Its address goes away: it may be written. */
#include "ranks.h"

static int table[4]; //~ table: private

static void fill(int *p) {
    for (int i = 0; i < 4; i++)
        p[i] = my_rank();
}

int main(void) {
    fill(table);
    all_here();
    return table[3] != my_rank();
}
