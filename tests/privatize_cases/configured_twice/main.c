/* One header twice with other macros: what is left out once is compiled the other time. */
#include "ranks.h"

static int n; //~ tls n: private; struct n: private

#define FIRST
#include "both.h"
#undef FIRST
#include "both.h"

int main(void) {
    set(my_rank());
    all_here();
    return get() != my_rank();
}
