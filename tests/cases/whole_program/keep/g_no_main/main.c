//~ analyse lib.c
/* Only lib.c is analysed: no main, so its external function may be called by
 * anybody, and its external buffer be read by anybody. This file does. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

extern double sbuf[N];
void ship(int rank, double x);

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    ship(rank, 0.5);
    for (int i = 0; i < N; i++)
        v[i] = u[i] + sbuf[i];
    if (rank == 0) {
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
