/* After the sends a pointer walks along the table, and reads all rows. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 4
#define N 300

int main(int argc, char **argv)
{
    int rank, size;
    double *out[ROWS], in[N], sum = 0.0;
    double **row;
    MPI_Request rq[ROWS];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int d = 0; d < ROWS; d++) {
        out[d] = malloc(N * sizeof(double));
    }
    for (int round = 0; round < 3; round++) {
        for (int d = 0; d < ROWS; d++) {
            for (int i = 0; i < N; i++)
                out[d][i] = round + rank + 0.5 * i + d;
            MPI_Isend(out[d], N, MPI_DOUBLE, size - 1 - rank, d, MPI_COMM_WORLD, &rq[d]); //~ keep(out[d])
        }
        for (int d = 0; d < ROWS; d++) {
            MPI_Recv(in, N, MPI_DOUBLE, size - 1 - rank, d, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                sum += in[i] * (i % 7);
        }
        MPI_Waitall(ROWS, rq, MPI_STATUSES_IGNORE);
        for (row = out; row < out + ROWS; row++)
            sum += (*row)[round];
    }
    printf("%d: %.17g\n", rank, sum);
    for (int d = 0; d < ROWS; d++)
        free(out[d]);
    MPI_Finalize();
    return 0;
}
