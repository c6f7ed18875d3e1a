/* A macro names what it is given twice: an element, and the one in front of it, which lies in the other half. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600
#define BOTH(a, i) ((a)[(i)] + (a)[(i) - 1])

static double u[2 * N], v[2 * N];

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    double *sbuf = malloc(2 * n * sizeof(double));
    double *rbuf = malloc(2 * n * sizeof(double));
    for (int step = 0; step < 3; step++) {
        MPI_Request rq[4];
        MPI_Irecv(rbuf, n, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &rq[0]); //~ keep(rbuf)
        MPI_Irecv(rbuf + n, n, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD, &rq[1]); //~ keep(rbuf + n)
        for (int i = 0; i < n; i++) {
            sbuf[i] = u[i] + step;
            sbuf[n + i] = u[n + i] * step;
        }
        MPI_Isend(sbuf, n, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD, &rq[2]); //~ give(sbuf)
        MPI_Isend(&sbuf[n], n, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &rq[3]); //~ give(&sbuf[n])
        MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            v[i] += rbuf[i];
        for (int i = 0; i < n; i++)
            v[n + i] -= BOTH(rbuf, n + i);
    }
    double total = 0.0;
    for (int i = 0; i < 2 * N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
//~ points 4
