/* assert shows its text only when it fails. */
#include "ranks.h"

#include <assert.h>

static int n = 1; //~ n: private

int main(void) {
    n += my_rank();
    assert(n > 0);
    all_here();
    return n != 1 + my_rank();
}
