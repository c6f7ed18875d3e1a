/* Set the first time a rank comes by, or before. */
#include "ranks.h"

static int value = 4; //~ value: private

static int bump(int k) {
    static int *where = &value;        //~ where: private
    static int *const all[] = {&value}; //~ all: private
    static int own, *mine = &own;      //~ own: private; mine: private
    *where += k;
    *mine += k;
    return *all[0] + own;
}

int main(void) {
    bump(my_rank());
    all_here();
    return bump(my_rank()) != 4 + 4 * my_rank();
}
