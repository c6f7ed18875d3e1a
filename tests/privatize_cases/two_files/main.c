#include "ranks.h"
#include "state.h"

int steps = 3;     //~ steps: private
double field[GRID]; //~ field: private

int main(void) {
    steps += my_rank();
    advance();
    all_here();
    return LAST != 2 * (3 + my_rank()) || current() != 3 + my_rank() || name[0] != 's' || limits[2] != 9;
}
