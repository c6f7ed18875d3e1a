#include "ranks.h"

int value = 2;      //~ value: private
extern int *one;
int **const two[2] = {&one, 0}; //~ two: private

int main(void) {
    **two[0] += my_rank();
    all_here();
    return value != 2 + my_rank() || *one != value;
}
