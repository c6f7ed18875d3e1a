/* The row that a local pointer goes to is one after a number that the loop counts. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 4

int main(int argc, char **argv)
{
    int rank, n = 500;
    double *out[ROWS], *in[ROWS], sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int d = -1; d + 1 < ROWS; d++) {
        void *s = malloc((size_t)n * sizeof(double));
        void *r = malloc((size_t)n * sizeof(double));
        out[d + 1] = s;
        in[d + 1] = r;
    }
    for (int step = 0; step < 3; step++)
        for (int d = 0; d < ROWS; d++) {
            if (rank == 0) {
                for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                    out[d][i] = step + d + 0.5 * i;
                MPI_Send(out[d], n, MPI_DOUBLE, 1, d, MPI_COMM_WORLD); //~ give(out[d])
            } else if (rank == 1) {
                MPI_Recv(in[d], n, MPI_DOUBLE, 0, d, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in[d])
                for (int i = 0; i < n; i++)
                    sum += (d + 1) * in[d][i];
            }
        }
    for (int d = 0; d < ROWS; d++) {
        free(out[d]);
        free(in[d]);
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
