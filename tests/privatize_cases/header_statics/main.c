#include "ranks.h"
#include "counter.h"

int other(int k);

int main(void) {
    count(my_rank());
    all_here();
    return *where != my_rank() || other(5) != 5 || next() != 1 || next() != 2;
}
