/* The tables are of a named type, and freed by a function that is given their addresses. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static double u[2 * N];

typedef double **table;

static double **table_of(int rows, int cols)
{
    double **t = malloc(rows * sizeof(double *));
    double *data = malloc(rows * cols * sizeof(double));

    for (int i = 0; i < rows; i++)
        t[i] = &(data[cols * i]);
    return t;
}

static void release(table *t)
{
    free((*t)[0]);
    free(*t);
    *t = NULL;
}

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    table out = table_of(2, n);
    table in = table_of(2, n);
    for (int step = 0; step < 3; step++) {
        MPI_Request rq[4];
        for (int d = 0; d < 2; d++)
            MPI_Irecv(in[d], n, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, &rq[d]); //~ take(in[d])
        for (int d = 0; d < 2; d++)
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                out[d][i] = u[d * n + i];
        for (int d = 0; d < 2; d++)
            MPI_Isend(out[d], n, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, &rq[2 + d]); //~ give(out[d])
        MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);
        for (int d = 0; d < 2; d++)
            for (int i = 0; i < n; i++)
                u[d * n + i] += in[d][i];
    }
    double total = 0.0;
    for (int i = 0; i < 2 * N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    release(&out);
    release(&in);
    MPI_Finalize();
    return 0;
}
