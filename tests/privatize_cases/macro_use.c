/* A macro's argument; a macro that names it. */
#include "ranks.h"

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define SCALED(k) (factor * (k))

static int best = -1;   //~ best: private
static int factor = 10; //~ factor: private

int main(void) {
    best = MAX(best, my_rank());
    factor += my_rank();
    all_here();
    return MAX(best, 0) != my_rank() || SCALED(2) != 20 + 2 * my_rank();
}
