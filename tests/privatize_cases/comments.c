#include "ranks.h"

/* the rank's */ static /* own */ int /* number */ n /* here */ = /* starts with */ 2 /* . */; //~ n: private
/* kept
   whole */
static // of the file
    int
        m; //~ m: private

int main(void) {
    n = m = my_rank(); // n of "n"
    all_here();
    return n != my_rank() /* n */ || m != n;
}
