/* Each rank starts with the initial value. */
#include "ranks.h"

int n = 5;               //~ n: private
static double x = -0.25; //~ x: private

int main(void) {
    int wrong = n != 5 || x != -0.25;
    all_here();
    n += my_rank();
    x *= my_rank();
    all_here();
    return wrong || n != 5 + my_rank() || x != -0.25 * my_rank();
}
