#include "ranks.h"

static long long total; //~ total: private

static void add(int k) {
    total += k;
}

int main(void) {
    for (int i = 0; i < 4; i++) {
        add(my_rank());
        all_here();
    }
    return total != 4 * my_rank();
}
