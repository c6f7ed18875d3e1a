#include "ranks.h"

float m[3][4] = {{1, 2}, [2] = {[3] = 9}}; //~ m: private

static float *row(int i) {
    return m[i];
}

int main(void) {
    row(1)[2] = my_rank();
    all_here();
    return m[1][2] != my_rank() || m[0][1] != 2 || m[2][3] != 9 || row(2) != &m[2][0];
}
