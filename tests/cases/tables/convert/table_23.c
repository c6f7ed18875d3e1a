/* Functions are given the tables: they fill a row, free them all, and count how often. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 4

static void fill(double **t, int d, int n, double x)
{
    for (int i = 0; i < n; i++)
        t[d][i] = x + 0.5 * i;
}

static void drop(double **t)
{
    for (int d = 0; d < ROWS; d++)
        free(t[d]);
}

static void lose(double **t)
{
    int d = ROWS;
    while (d-- > 0)
        free(t[d]);
}

int main(int argc, char **argv)
{
    int rank, n = 300;
    double *out[ROWS], *own[ROWS], *in[ROWS], sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int d = 0; d < ROWS; d++) {
        in[d] = malloc(n * sizeof(double));
        out[d] = malloc(n * sizeof(double));
        own[d] = malloc(n * sizeof(double));
        for (int i = 0; i < n; i++)
            own[d][i] = i + d;
    }
    for (int round = 0; round < 3; round++)
        for (int d = 0; d < ROWS; d++)
            if (rank == 0) {
                fill(out, d, n, round + d);
                MPI_Send(out[d], n, MPI_DOUBLE, 1, d, MPI_COMM_WORLD); //~ give(out[d])
            } else if (rank == 1) {
                MPI_Recv(in[d], n, MPI_DOUBLE, 0, d, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in[d])
                for (int i = 0; i < n; i++)
                    sum += in[d][i] * own[d][i];
            }
    drop(out);
    lose(in);
    for (int d = 0; d < ROWS; d++)
        free(own[d]);
    printf("%d: %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
