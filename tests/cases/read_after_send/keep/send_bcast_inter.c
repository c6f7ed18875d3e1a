/* The sender broadcasts to the other group, as MPI_ROOT. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank, own;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *buf = malloc(N * sizeof *buf);
    if (buf == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm mine, other;
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &mine);
    MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, 1 - rank, 3, &other);
    MPI_Comm_rank(other, &own);
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
    if (rank == 1)
        MPI_Bcast(buf, N, MPI_DOUBLE, MPI_ROOT, other);
    else
        MPI_Bcast(buf, N, MPI_DOUBLE, 0, other);
    for (int i = 0; i < N; i++)
        if (rank == 0)
            v[i] += buf[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(buf);
    MPI_Comm_free(&other);
    MPI_Comm_free(&mine);
    MPI_Finalize();
    return 0;
}
