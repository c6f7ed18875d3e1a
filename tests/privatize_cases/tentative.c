/* Declared three times, defined once. */
#include "ranks.h"

extern int n;
int n;
int n = 4; //~ n: private
static int m; //~ m: private
static int m;

int main(void) {
    n += my_rank();
    m -= my_rank();
    all_here();
    return n != 4 + my_rank() || m != -my_rank();
}
