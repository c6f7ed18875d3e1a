#include "ranks.h"

int n = 1; //~ n: private

static int get(void) {
    extern int n;
    return n;
}

int main(void) {
    {
        extern int n;
        n = my_rank();
    }
    all_here();
    return get() != my_rank();
}
