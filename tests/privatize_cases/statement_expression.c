/* Code that the other analyses do not understand. */
#include "ranks.h"

static int n; //~ n: private

int main(void) {
    int k = ({ n = my_rank(); n + 1; });
    static void *const labels[] = {&&out}; //~ labels: shared
    goto *labels[0];
out:
    all_here();
    return k != my_rank() + 1 || n != my_rank();
}
