#include "ranks.h"

static int one(void) { return 1; }
static int two(void) { return 2; }
static int (*chosen)(void) = one;          //~ chosen: private
static int (*const both[])(void) = {one, two}; //~ both: shared

int main(void) {
    chosen = both[my_rank() % 2];
    all_here();
    return chosen() != my_rank() % 2 + 1;
}
