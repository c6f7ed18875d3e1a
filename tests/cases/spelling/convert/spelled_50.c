/* Pointers of the file have a short name in the block that reads or packs by it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static double u[2 * N], *sbuf, *rbuf;

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    sbuf = malloc(2 * n * sizeof(double));
    rbuf = malloc(2 * n * sizeof(double));
    if (!sbuf || !rbuf)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; step < 3; step++) {
        MPI_Request rq[4];
        MPI_Irecv(rbuf, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ take(rbuf)
        MPI_Irecv(rbuf + n, n, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &rq[1]); //~ take(rbuf + n)
        {
            double *to = sbuf;
            for (int i = 0; i < n; i++) {
                to[i] = u[i];
                to[n + i] = 2 * u[i];
            }
        }
        MPI_Isend(sbuf, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[2]); //~ give(sbuf)
        MPI_Isend(sbuf + n, n, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &rq[3]); //~ give(sbuf + n)
        MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);
        {
            double *from = rbuf;
            for (int i = 0; i < n; i++)
                u[i] += from[i] + from[n + i];
        }
    }
    for (int i = 0; i < n; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
