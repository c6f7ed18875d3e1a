/* Tested where it is allocated; the parts go to functions by their names. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static double u[2 * N];

static void pack(double *to, const double *from, int count, int step)
{
    for (int i = 0; i < count; i++)
        to[i] = from[i] + step;
}

static void unpack(double *to, const double *from, int count)
{
    for (int i = 0; i < count; i++)
        to[i] += from[i];
}

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;
    double *sbuf, *rbuf = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    if ((sbuf = malloc((n + n) * sizeof(double))) == NULL) {
        fprintf(stderr, "no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    rbuf = sbuf + n;
    for (int step = 0; step < 3; step++) {
        pack(sbuf, u, n, step);
        MPI_Request rq;
        MPI_Isend(sbuf, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq); //~ give(sbuf)
        MPI_Recv(rbuf, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        unpack(u, rbuf, n);
    }
    double total = 0.0;
    for (int i = 0; i < 2 * N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    if (sbuf)
        free(sbuf);
    MPI_Finalize();
    return 0;
}
//~ points 4
