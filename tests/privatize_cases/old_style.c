#include "ranks.h"

int n; //~ n: private

int add(k)
    int k;
{
    auto int old = n;
    n += k;
    return old;
}

int main() {
    add(my_rank());
    all_here();
    return add(1) != my_rank();
}
