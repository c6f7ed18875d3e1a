/* A count is read again after floating numbers were stored, through a pointer that may lead to it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2000

struct cells {
    int n;
    double sum;
};

struct grid {
    struct cells *cells;
    double sum;
};

int main(int argc, char **argv)
{
    int rank, got;
    double total = 0.0;
    double *sbuf = malloc(2 * N * sizeof(double)), *rbuf = malloc(2 * N * sizeof(double));
    double *other = malloc(64 * sizeof(double));
    struct grid *grid = malloc(sizeof *grid);
    struct cells *cells = malloc(sizeof *cells), *more = malloc(sizeof *more);
    void *places[3] = { grid, cells, more };
    double *sums[4] = { &grid->sum, &cells->sum, &more->sum, other };
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        sbuf[i] = i;
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            grid->cells = places[argc > 5 ? 2 : 1];
            grid->cells->n = N / 2;
            for (int i = 0; i < grid->cells->n; i++)
                sbuf[i] = k + 0.5 * i;
            for (int i = 0; i < 4; i++)
                *sums[i] += 0.5;
            MPI_Send(sbuf, grid->cells->n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
        } else if (rank == 1) {
            MPI_Recv(rbuf, 2 * N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_DOUBLE, &got);
            for (int i = 0; i < got; i++)
                total += (k + 1) * rbuf[i];
        }
    }
    printf("%d: %.17g\n", rank, total);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
