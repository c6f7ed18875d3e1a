#include "ranks.h"

static char line[64] __attribute__((aligned(64)));              //~ line: private
__attribute__((aligned(128))) static struct { int n; } padded; //~ padded: private

int main(void) {
    line[3] = (char)my_rank();
    padded.n = my_rank();
    all_here();
    return line[3] != my_rank() || (unsigned long)line % 64 || (unsigned long)&padded % 128 || padded.n != my_rank();
}
