/* Names like those of the generated text. */
#include "ranks.h"

static int base, init = 1, image, refs[2];       //~ base: private; init: private; image: private; refs: private
static int *var = &base, *const ref[] = {&image}; //~ var: private; ref: private
static int of, of_of = 2;                         //~ of: private; of_of: private

int main(void) {
    *var += my_rank();
    *ref[0] = init++;
    of = of_of *= 2;
    refs[1] = my_rank();
    all_here();
    return base != my_rank() || image != 1 || init != 2 || of != 4 || refs[1] != my_rank();
}
