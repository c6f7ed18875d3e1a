#include "ranks.h"

static int n = 2; //~ n: private

static int sum(int k, int v[k][n]) {
    int s = 0;
    for (int i = 0; i < k * n; i++)
        s += v[i / n][i % n];
    return s;
}

int main(void) {
    n += my_rank();
    int v[2][n], again[n];
    for (int i = 0; i < 2 * n; i++)
        v[i / n][i % n] = 1;
    again[n - 1] = n;
    all_here();
    return sum(2, v) != 2 * (2 + my_rank()) || again[n - 1] != 2 + my_rank() || sizeof(char[n]) != (unsigned)n;
}
