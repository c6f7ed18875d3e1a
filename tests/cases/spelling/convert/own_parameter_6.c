/* Nonblocking, and the helper is called with buffers of another message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void trade(double *u, int n, int peer, double *a, double *b)
{
    MPI_Request rq[2];

    a = malloc(n * sizeof *a);
    b = malloc(n * sizeof *b);
    for (int k = 0; k < 2; k++) {
        MPI_Irecv(b, n, MPI_DOUBLE, peer, 9, MPI_COMM_WORLD, &rq[0]); //~ take(b) no-stale-count
        for (int i = 0; i < n; i++)
            a[i] = u[i] - k;
        MPI_Isend(a, n, MPI_DOUBLE, peer, 9, MPI_COMM_WORLD, &rq[1]); //~ give(a)
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            u[i] += b[i];
    }
    free(a);
    free(b);
}

int main(int argc, char **argv)
{
    int rank, size, n = 80;
    double u[80], *x = malloc(80 * sizeof *x), *y = malloc(80 * sizeof *y), total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < n; i++)
        u[i] = rank + i;
    int peer = rank ^ 1;
    for (int t = 0; t < 3 && peer < size; t++) {
        trade(u, n, peer, x, y);
        for (int i = 0; i < n; i++)
            x[i] = u[i];
        MPI_Sendrecv(x, n, MPI_DOUBLE, peer, 10, y, n, MPI_DOUBLE, peer, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(x) take(y) no-stale-count
        for (int i = 0; i < n; i++)
            total += y[i];
    }
    printf("%d: %.17g\n", rank, total + u[3]);
    free(x);
    free(y);
    MPI_Finalize();
    return 0;
}
