/* The type is declared in the declaration. */
#include "ranks.h"

static struct {
    int steps;
    struct {
        double residual;
    } inner;
} state, *where = 0; //~ state: private; where: private

int main(void) {
    where = &state;
    state.steps = my_rank();
    where->inner.residual = my_rank() * 2;
    all_here();
    return where->steps != my_rank() || state.inner.residual != 2 * my_rank();
}
