/* The source is a function's argument; one caller passes MPI_PROC_NULL. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

static void swap_with(int other)
{
    MPI_Sendrecv(sbuf, N, MPI_DOUBLE, other, 7, rbuf, N, MPI_DOUBLE, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
    for (int i = 0; i < N; i++)
        v[i] += rbuf[i];
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int i = 0; i < N; i++)
        sbuf[i] = 2.0 * u[i];
    for (int i = 0; i < N; i++)
        rbuf[i] = 7.0;
    if (rank == 0)
        swap_with(1);
    else
        swap_with(0);
    swap_with(MPI_PROC_NULL);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
