/* The memory of both halves is asked for again, until there is some. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static double u[2 * N], v[2 * N], *sbuf;

static void pack(int d, int n)
{
    double *to = &sbuf[d * n];
    for (int i = 0; i < n; i++)
        *to++ = u[d * n + i];
}

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    while ((sbuf = malloc(2 * n * sizeof(double))) == NULL)
        fprintf(stderr, "no memory yet\n");
    for (int step = 0; step < 3; step++) {
        MPI_Request rq[4];
        MPI_Irecv(v, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]);
        MPI_Irecv(v + n, n, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &rq[1]);
        pack(0, n);
        MPI_Isend(&sbuf[0], n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[2]); //~ keep
        pack(1, n);
        MPI_Isend(&sbuf[n], n, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &rq[3]); //~ keep
        MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++) {
            u[i] += v[i];
            u[n + i] += v[n + i];
        }
    }
    double total = 0.0;
    for (int i = 0; i < 2 * N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(sbuf);
    MPI_Finalize();
    return 0;
}
//~ points 4
