/* The initialiser stands in another file. */
#include "ranks.h"

static int a = 1, b = 2; //~ tls a: private; struct a: private; b: private
static int *const table[] = { //~ tls table: private; struct table: private
#include "table.h"
};

int main(void) {
    *table[1] += my_rank();
    all_here();
    return b != 2 + my_rank() || a != 1 || table[0] != &a;
}
