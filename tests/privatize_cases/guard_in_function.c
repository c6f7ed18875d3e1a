#include "ranks.h"

static int next(void) {
    static int started = 0, state; //~ started: private; state: private
    if (!started) {
        started = 1;
        state = 1000 * my_rank();
    }
    return state++;
}

int main(void) {
    next();
    all_here();
    return next() != 1000 * my_rank() + 1;
}
