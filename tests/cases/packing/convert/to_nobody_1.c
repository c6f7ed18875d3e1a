/* Each side is packed where there is a neighbour, and sent anyway: to MPI_PROC_NULL nothing goes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

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
        if (left != MPI_PROC_NULL)
            for (int i = 0; i < n; i++)
                out[i] = u[i] + t;
        MPI_Sendrecv(out, n, MPI_DOUBLE, left, 1, in, n, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(out) take(in) no-stale-count
        if (right != MPI_PROC_NULL)
            for (int i = 0; i < n; i++)
                u[n + i] += in[i];
        if (right != MPI_PROC_NULL)
            for (int i = 0; i < n; i++)
                out[i] = u[n + i] - t;
        MPI_Sendrecv(out, n, MPI_DOUBLE, right, 2, in, n, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(out) take(in) no-stale-count
        if (left != MPI_PROC_NULL)
            for (int i = 0; i < n; i++)
                u[i] += in[i];
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
