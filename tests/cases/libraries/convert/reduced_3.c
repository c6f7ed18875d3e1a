/* The data begin inside an array. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 512

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0, *buf;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    buf = malloc(N * sizeof *buf);
    if (!buf) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < N; i++)
            buf[i] = u[i] + step;
        if (rank == 0)
            MPI_Send(buf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(buf)
        else if (rank == 1)
            MPI_Recv(v, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&u[0], buf, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
    }
    free(buf);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
