#include "ranks.h"

static int tag = 1; //~ tls tag: private; struct tag: refused OPI503
#include "tagged.h"

int other(int k);

int main(void) {
    add(my_rank());
    all_here();
    return tag != 1 + my_rank() || other(my_rank()) != 50 + my_rank();
}
