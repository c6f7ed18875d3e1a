/* The block comes before its table, and is larger than the rows: what is after them is used as well. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static double u[2 * N], v[2 * N], **out = NULL;

static double **table(int rows, int cols)
{
    double *data = (double *)malloc(2 * rows * cols * sizeof(double));
    double **t = (double **)malloc(rows * sizeof(double *));

    for (int i = 0; i < rows; i++)
        t[i] = &(data[cols * i]);
    return t;
}

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    out = table(2, n);
    for (int step = 0; step < 3; step++) {
        MPI_Request rq[2];
        MPI_Irecv(v, 2 * n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]);
        for (int i = 0; i < 2 * n; i++)
            out[0][i] = u[i];
        MPI_Isend(&out[0][0], 2 * n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ keep
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 2 * n; i++)
            out[0][2 * n + i] = v[i];
        for (int i = 0; i < 2 * n; i++)
            u[i] += out[0][2 * n + i];
    }
    double total = 0.0;
    for (int i = 0; i < 2 * N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(out[0]);
    free(out);
    MPI_Finalize();
    return 0;
}
