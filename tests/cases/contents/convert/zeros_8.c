/* A function that counts what it allocates is still called. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

static size_t bytes;

static void *counted(size_t count, size_t size)
{
    bytes += count * size;
    return calloc(count, size);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *sbuf = counted(N, sizeof(double));
    double *rbuf = counted(N, sizeof(double));
    if (rank == 0) {
        for (int i = 0; i < N; i += 2)
            sbuf[i] = u[i];
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
    } else if (rank == 1) {
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i] + (double)bytes;
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        for (int i = 0; i < N; i++)
            v[i] += rbuf[i];
    }
    free(sbuf);
    free(rbuf);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
