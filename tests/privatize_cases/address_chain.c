/* Addresses of variables that hold addresses. */
#include "ranks.h"

int value = 3;             //~ value: private
int *one = &value;         //~ one: private
int **two = &one;          //~ two: private
int ***const three = &two; //~ three: private

int main(void) {
    ***three += my_rank();
    all_here();
    return value != 3 + my_rank() || two != &one;
}
