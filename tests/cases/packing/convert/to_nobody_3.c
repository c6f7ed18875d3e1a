/* A function is told whom to send to. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void edge(double *to, double *from, int n, int dest, int source, double *sbuf, double *rbuf)
{
    MPI_Status st;

    if (dest != MPI_PROC_NULL)
        for (int i = 0; i < n; i++)
            sbuf[i] = to[i] * 0.5;
    MPI_Sendrecv(sbuf, n, MPI_DOUBLE, dest, 1, rbuf, n, MPI_DOUBLE, source, 1, MPI_COMM_WORLD, &st); //~ give(sbuf) take(rbuf) no-stale-count
    if (source != MPI_PROC_NULL)
        for (int i = 0; i < n; i++)
            from[i] += rbuf[i];
}

int main(int argc, char **argv)
{
    int rank, size, n = 55;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    double *u = malloc(2 * n * sizeof *u), *out = malloc(n * sizeof *out), *in = malloc(n * sizeof *in);
    for (int i = 0; i < 2 * n; i++)
        u[i] = rank + i;
    for (int t = 0; t < 4; t++) {
        edge(u, u + n, n, left, right, out, in);
        edge(u + n, u, n, right, left, out, in);
    }
    for (int i = 0; i < 2 * n; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(u);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
