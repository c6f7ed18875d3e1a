/* A function that makes tables of two rows, of a length that it is given. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static double u[2 * N];

static double **table(int n)
{
    double **t, *all;
    t = malloc(2 * sizeof(double *));
    all = malloc(2 * n * sizeof(double));
    for (int i = 0; i < 2; i++)
        t[i] = all + i * n;
    return t;
}

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    double **out = NULL, **in = NULL;
    out = table(n);
    in = table(n);
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
    free(out[0]);
    free(out);
    free(in[0]);
    free(in);
    MPI_Finalize();
    return 0;
}
