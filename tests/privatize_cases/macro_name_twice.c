/* What the macro names depends on where it is used. */
#include "ranks.h"

#define STEP (step + 1)

static int step; //~ tls step: private; struct step: refused OPI503

static int local(void) {
    int step = 5;
    return STEP;
}

int main(void) {
    step = my_rank();
    all_here();
    return STEP != my_rank() + 1 || local() != 6;
}
