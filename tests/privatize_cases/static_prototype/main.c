/* A static function of another file's name, a struct of the variable's name, a label. */
#include "ranks.h"

struct state { int state; };
static struct state state = {3}; //~ state: private

static int get(struct state *state) {
    return state->state;
}

int main(void) {
    goto state;
state:
    state.state += my_rank();
    all_here();
    return get(&state) != 3 + my_rank() || sizeof(struct state) != sizeof state;
}
