/* Nonblocking, to neighbours of a grid that ends. */
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
    MPI_Comm grid;
    int dims[1] = {0}, periods[1] = {0};
    MPI_Dims_create(size, 1, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &left, &right);
    double *u = malloc(2 * n * sizeof *u), *out = malloc(n * sizeof *out), *in = malloc(n * sizeof *in);
    for (int i = 0; i < 2 * n; i++)
        u[i] = rank + i;
    for (int t = 0; t < 4; t++) {
        MPI_Request rq[2];
        MPI_Irecv(in, n, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &rq[0]); //~ take(in) no-stale-count
        if (left != MPI_PROC_NULL)
            for (int i = 0; i < n; i++)
                out[i] = u[i] + t;
        MPI_Isend(out, n, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &rq[1]); //~ give(out)
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        if (right != MPI_PROC_NULL)
            for (int i = 0; i < n; i++)
                u[n + i] += in[i];
    }
    for (int i = 0; i < 2 * n; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(u);
    free(out);
    free(in);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
