#include "ranks.h"

extern int table[];

int sum(void) {
    return table[0] + table[1] + table[2];
}

int table[3] = {1, 2, 3}; //~ table: private

int main(void) {
    table[my_rank()] = 10;
    all_here();
    return sum() != 6 - (my_rank() + 1) + 10;
}
