/* A function that frees the rows of a table is called through a pointer, with another table, too. */
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
    (void)__func__; /* no other function has this text */
    for (int d = 0; d < ROWS; d++)
        free(t[d]);
}

int main(int argc, char **argv)
{
    int rank, n = 300;
    double *out[ROWS], *own[ROWS], in[300], sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int d = 0; d < ROWS; d++) {
        out[d] = malloc(n * sizeof(double));
        own[d] = malloc(n * sizeof(double));
        for (int i = 0; i < n; i++)
            own[d][i] = i + d;
    }
    for (int round = 0; round < 3; round++)
        for (int d = 0; d < ROWS; d++)
            if (rank == 0) {
                fill(out, d, n, round + d);
                MPI_Send(out[d], n, MPI_DOUBLE, 1, d, MPI_COMM_WORLD); //~ keep
            } else if (rank == 1) {
                MPI_Recv(in, n, MPI_DOUBLE, 0, d, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                for (int i = 0; i < n; i++)
                    sum += in[i] * own[d][i];
            }
    void (*any)(double **) = drop;
    drop(out);
    any(own);
    printf("%d: %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
