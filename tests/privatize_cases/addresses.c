/* The textbook case: a constant table that is not the same for all ranks. */
#include "ranks.h"

static int a = 1, b = 2;                //~ a: private; b: private
static int *const t[] = {&a, &b, [3] = &a}; //~ t: private

int main(void) {
    *t[0] = my_rank();
    *t[1] += my_rank();
    all_here();
    return a != my_rank() || b != 2 + my_rank() || t[3] != &a || t[2] || sizeof t != 4 * sizeof(int *);
}
