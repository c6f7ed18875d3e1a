#include "ranks.h"

static float x; //~ x: private

int main(void) {
    x = my_rank();
    all_here();
    return _Generic(x, float: x != my_rank(), default: 1) || _Generic(&x, float *: 0, default: 1);
}
