/* One counter per rank and function. */
#include "ranks.h"

static int count(void) {
    static int calls = 100; //~ calls: private
    return ++calls;
}

static int other(void) {
    static int calls; //~ calls: private
    return --calls;
}

int main(void) {
    for (int i = 0; i <= my_rank(); i++)
        count();
    all_here();
    return count() != 102 + my_rank() || other() != -1;
}
