/* Which arm is taken is the affair of the MPI: its constant is a number only in this one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 600

static double u[N], saved[N];
static double buf[N];

static void step(int peer)
{
    for (int i = 0; i < N; i++)
        buf[i] = u[i] * 2;
    MPI_Send(buf, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep OPI101
    if (peer != -1 || peer < 0)
        memcpy(saved, buf, sizeof saved);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0)
        step(MPI_PROC_NULL);
    if (rank == 1) {
        MPI_Recv(u, N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        u[0] += saved[0];
    }
    double s = 0;
    for (int i = 0; i < N; i++)
        s += u[i] * i + saved[i];
    printf("%d %.17g\n", rank, s);
    MPI_Finalize();
    return 0;
}
