/* The same name means three things. */
#include "ranks.h"

static int n = 1; //~ n: private

static int f(int n) {
    return n + 1;
}

static int g(void) {
    static int n = 50; //~ n: private
    return ++n;
}

struct s { int n; };

int main(void) {
    struct s s = {.n = 4};
    n += my_rank();
    for (int n = 0; n < 2; n++)
        s.n += n;
    g();
    all_here();
    return f(n) != 2 + my_rank() || s.n != 5 || g() != 52;
}
