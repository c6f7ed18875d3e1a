/* A constant in the declaration of a private one: with tls it gets a copy too. */
#include "ranks.h"

static int n, limit = 3; //~ n: private; tls limit: private; struct limit: shared

int main(void) {
    n = limit + my_rank();
    all_here();
    return n != 3 + my_rank();
}
