/* Sums over all ranks, of 8 bytes to 256 KiB. */
#include "memory.h"

#define MOST (1 << 15)

static double mine[MOST], sum[MOST];

int main(int argc, char **argv)
{
    long wrong = 0;

    start(&argc, &argv);
    for (int n = 1; n <= MOST; n *= 8) {
        for (int i = 0; i < n; i++)
            mine[i] = i + rank;
        MPI_Allreduce(mine, sum, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++)
            wrong += sum[i] != (double)i * size + (double)size * (size - 1) / 2;
    }
    return finish(argc, argv, wrong);
}
