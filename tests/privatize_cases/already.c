/* Made private by hand. */
#include "ranks.h"

static _Thread_local int n; //~ n: private
__thread int m = 1;         //~ m: private

int main(void) {
    n = m = 0;
    return n + m;
}
