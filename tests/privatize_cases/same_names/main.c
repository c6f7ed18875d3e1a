#include "ranks.h"

static int n = 1; //~ n: private
int other(void);
int third(int k);

int main(void) {
    n += my_rank();
    other();
    all_here();
    return n != 1 + my_rank() || other() != 102 || third(my_rank()) != 1000 + my_rank();
}
