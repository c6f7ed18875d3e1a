/* Braces around a scalar; an address that a conditional chooses. */
#include "ranks.h"

static int a, b;                                //~ a: private; b: private
static int *p = {&a};                           //~ p: private
static int *q = sizeof(int) == 4 ? &b : (int *)0; //~ q: private

int main(void) {
    *p = my_rank();
    *q = -my_rank();
    all_here();
    return a != my_rank() || b != -my_rank();
}
