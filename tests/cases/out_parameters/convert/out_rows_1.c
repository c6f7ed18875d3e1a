/* A function sets the rows of two arrays of pointers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 4

static void allocate(double **to, int n)
{
    *to = malloc(n * sizeof(double));
    if (*to == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
    int rank, size, n = 300;
    double *in[ROWS], *out[ROWS], sum = 0.0;
    MPI_Request rq[2 * ROWS];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int d = 0; d < ROWS; d++) {
        allocate(&in[d], n);
        allocate(&out[d], n);
    }
    for (int round = 0; round < 3; round++) {
        for (int d = 0; d < ROWS; d++)
            MPI_Irecv(in[d], n, MPI_DOUBLE, size - 1 - rank, d, MPI_COMM_WORLD, &rq[d]); //~ take(in[d])
        for (int d = 0; d < ROWS; d++) {
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                out[d][i] = round + rank + 0.5 * i + d;
            MPI_Isend(out[d], n, MPI_DOUBLE, size - 1 - rank, d, MPI_COMM_WORLD, &rq[ROWS + d]); //~ give(out[d])
        }
        MPI_Waitall(2 * ROWS, rq, MPI_STATUSES_IGNORE);
        for (int d = 0; d < ROWS; d++)
            for (int i = 0; i < n; i++)
                sum += in[d][i] * (i + d + 1);
    }
    printf("%d: %.17g\n", rank, sum);
    for (int d = 0; d < ROWS; d++) {
        free(in[d]);
        free(out[d]);
    }
    MPI_Finalize();
    return 0;
}
