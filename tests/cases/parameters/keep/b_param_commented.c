/* Comments say what the parameters are for, and one call passes a place inside of live data all the same. */
#include <mpi.h>
#include <stdio.h>

#define N 600

static double u[2 * N], sbuf[N], rbuf[N];

static void put(double b[] /* in: sbuf */, int n /* all of it */, int to /* in */)
{
    MPI_Send(b, n, MPI_DOUBLE, to, 7, MPI_COMM_WORLD); //~ keep OPI101
}

static void get(double *b /* out: rbuf, */, int n, int from /* in */)
{
    MPI_Recv(b, n, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
}

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    for (int i = 0; i < N; i++)
        sbuf[i] = 2.0 * u[i];
    put(sbuf, N, (rank + 1) % size);
    put(u + N /* the second half */, N, (rank + 1) % size);
    for (int k = 0; k < 2; k++) {
        get(rbuf, N, (rank + size - 1) % size);
        for (int i = 0; i < N; i++)
            total += rbuf[i] * (i + 1);
    }
    for (int i = 0; i < 2 * N; i++)
        total += u[i];
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
