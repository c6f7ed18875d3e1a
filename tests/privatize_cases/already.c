/* Made private by hand. */
#include "ranks.h"

static _Thread_local int n; //~ tls n: private; struct n: refused OPI501
__thread int m = 1;         //~ tls m: private; struct m: refused OPI501

int main(void) {
    n = m = 0;
    return n + m;
}
