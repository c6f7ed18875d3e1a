/* Ways to write. */
#include "ranks.h"

static int a, b, c, d[2]; //~ a: private; b: private; c: private; d: private
static struct { int x, v[2]; } s, t; //~ s: private; tls t: private; struct t: shared

int main(void) {
    ++a;
    b += my_rank();
    *&c = my_rank();
    *(d + 1) = my_rank();
    s = t;
    s.v[1]--;
    all_here();
    return a != 1 || b != my_rank() || c != my_rank() || d[1] != my_rank() || s.v[1] != -1;
}
