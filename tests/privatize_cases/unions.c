#include "ranks.h"

static union {
    int i;
    unsigned char bytes[4];
} word = {.i = 7}; //~ word: private

int main(void) {
    int before = word.i;
    all_here();
    word.i = 0;
    word.bytes[0] = (unsigned char)my_rank();
    all_here();
    return before != 7 || word.i != my_rank();
}
