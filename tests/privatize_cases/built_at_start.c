/* A table that every rank builds with its own values. */
#include "ranks.h"

static int squares[8]; //~ squares: private

static void build(int k) {
    for (int i = 0; i < 8; i++)
        squares[i] = i * i * k;
}

int main(void) {
    build(my_rank());
    all_here();
    return squares[7] != 49 * my_rank();
}
