/* A plain global. */
#include "ranks.h"

int n; //~ n: private

int main(void) {
    n = my_rank() + 10;
    all_here();
    return n != my_rank() + 10;
}
