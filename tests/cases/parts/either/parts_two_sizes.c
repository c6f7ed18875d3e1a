/* The memory is allocated in two places, with two sizes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static double u[2 * N], v[2 * N];

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    double *sbuf;
    if (rank == 0)
        sbuf = malloc(2 * n * sizeof(double));
    else
        sbuf = malloc(4 * n * sizeof(double));
    for (int step = 0; step < 2; step++) {
        MPI_Request rq[4];
        for (int d = 0; d < 2; d++)
            MPI_Irecv(v + d * n, n, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, &rq[d]);
        for (int i = 0; i < n; i++)
            sbuf[i] = u[i];
        for (int i = 0; i < n; i++)
            sbuf[n + i] = u[n + i];
        MPI_Isend(sbuf, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[2]);
        MPI_Isend(sbuf + n, n, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &rq[3]);
        MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 2 * n; i++)
            u[i] += v[i];
    }
    double total = 0.0;
    for (int i = 0; i < 2 * N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(sbuf);
    MPI_Finalize();
    return 0;
}
