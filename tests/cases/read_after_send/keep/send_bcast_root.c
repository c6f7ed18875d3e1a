/* The sender is the root of the broadcast. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *buf = malloc(N * sizeof *buf);
    if (buf == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 1) {
        for (int i = 0; i < N; i++)
            buf[i] = 2.0 * u[i];
        MPI_Send(buf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD); //~ keep
    } else if (rank == 0) {
        MPI_Recv(buf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] = buf[i];
        for (int i = 0; i < N; i++)
            buf[i] = 3.0 * v[i];
    }
    MPI_Bcast(buf, N, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        if (rank == 0)
            v[i] += buf[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(buf);
    MPI_Finalize();
    return 0;
}
