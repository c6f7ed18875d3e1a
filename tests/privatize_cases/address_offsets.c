#include "ranks.h"

static int v[10];                                    //~ v: private
static struct { int a; int b[4]; } s;                //~ s: private
static int *middle = v + 5, *end = &v[10], *b2 = &s.b[2]; //~ middle: private; end: private; b2: private
static char *bytes = (char *)&s + 1;                 //~ bytes: private

int main(void) {
    *middle = my_rank();
    end[-1] = my_rank() + 1;
    *b2 = my_rank() + 2;
    all_here();
    return v[5] != my_rank() || v[9] != my_rank() + 1 || s.b[2] != my_rank() + 2 || bytes != (char *)&s.a + 1;
}
