#include "ranks.h"

static struct {
    unsigned flag : 1, level : 5;
    int : 0;
    unsigned rest : 7;
} bits = {1, 2, 3}; //~ bits: private

int main(void) {
    bits.level = (unsigned)my_rank();
    bits.flag ^= 1;
    all_here();
    return bits.level != (unsigned)my_rank() || bits.flag || bits.rest != 3;
}
