/* The same where the table is declared. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define ROWS 4
static long freed;

static void fill(double **t, int d, int n, double x)
{
    for (int i = 0; i < n; i++)
        t[d][i] = x + 0.5 * i;
}

int main(int argc, char **argv)
{
    int rank, size, n = 300;
    double *out[ROWS], *in[ROWS], sum = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int d = 0; d < ROWS; d++) {
        in[d] = malloc(n * sizeof(double));
        out[d] = malloc(n * sizeof(double));
    }
    for (int round = 0; round < 3; round++) {
        for (int d = 0; d < ROWS; d++)
            if (rank == 0) {
                fill(out, d, n, round + d);
                MPI_Send(out[d], n, MPI_DOUBLE, 1, d, MPI_COMM_WORLD);
            } else if (rank == 1) {
                MPI_Recv(in[d], n, MPI_DOUBLE, 0, d, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                for (int i = 0; i < n; i++)
                    sum += in[d][i] * (i + 1);
            }

    }
    int k = 0;
    while (k < ROWS) {
        free(out[k++]);
    }
    k = 0;
    while (k < ROWS) {
        free(in[k++]);
    }
    printf("%d: %.17g %ld\n", rank, sum, freed);
    MPI_Finalize();
    return 0;
}
