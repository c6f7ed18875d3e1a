/* Operations of a module: constant, and yet per rank. */
#include "ranks.h"

static int level = 1;                      //~ level: private
static int get(int *l) { return *l; }
static const struct ops {
    int (*get)(int *);
    int *level;
} ops = {get, &level};                     //~ ops: private
static const struct ops *const all[] = {&ops}; //~ all: private

int main(void) {
    level += my_rank();
    all_here();
    return all[0]->get(all[0]->level) != 1 + my_rank();
}
