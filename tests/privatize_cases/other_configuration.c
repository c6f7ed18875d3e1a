/* What another configuration compiles is not in this one: the text there gets an #error, so that it is never compiled as it stands. */
#include "ranks.h"

static int n;     //~ n: private
static int other; //~ other: private

int main(void) {
    int wrong;
#ifdef TRACE
    trace(n);
#endif
    n = my_rank();
#if defined TRACE && TRACE > 1
    int n = 5; /* another n */
    trace(n);
#elif defined(TRACE) /* and a comment
                        of two lines */
    other = n; // n
#else
    other = n + 1;
#endif
    all_here();
    wrong = n != my_rank() || other != my_rank() + 1;
    return wrong;
}
