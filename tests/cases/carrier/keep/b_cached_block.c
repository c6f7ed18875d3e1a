/* A function hands out the same cached block each time; two names stand for
 * it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double rbuf[N];

static double *cached(void)
{
    static double *block;
    if (!block)
        block = malloc(N * sizeof(double));
    return block;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        double *a = cached(), *b = cached();
        for (int i = 0; i < N; i++)
            a[i] = u[i];
        MPI_Send(a, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
        printf("%.17g\n", b[3]);
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
