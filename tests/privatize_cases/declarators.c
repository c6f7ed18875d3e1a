/* One declaration, several kinds. */
#include "ranks.h"

int a, b = 2, *p, v[3] = {1}, (*q)[3]; //~ a: private; tls b: private; struct b: shared; p: private; v: private; q: private

int main(void) {
    p = &a;
    q = &v;
    *p = my_rank();
    (*q)[1] = b + my_rank();
    all_here();
    return a != my_rank() || v[1] != 2 + my_rank();
}
