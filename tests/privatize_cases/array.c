#include "ranks.h"

static double u[7]; //~ u: private

int main(void) {
    for (int i = 0; i < 7; i++)
        u[i] = i * my_rank();
    all_here();
    double s = 0;
    for (int i = 0; i < 7; i++)
        s += u[i];
    return s != 21 * my_rank() || sizeof u != 7 * sizeof(double) || sizeof u / sizeof u[0] != 7;
}
