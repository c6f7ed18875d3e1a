/* Another configuration declares it, too, and a macro there names it. */
#include "ranks.h"

#ifdef WIDE
static long n;
extern long *also(void);
#define GET (*also() + n)
#else
static int n; //~ n: private
#define GET (n)
#endif
#if 0
n is named here, and nobody compiles it
#endif

int main(void) {
    n = my_rank();
    all_here();
    return GET != my_rank();
}
