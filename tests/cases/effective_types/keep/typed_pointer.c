/* The pointer to the count is changed by a store of a pointer, between two of floating numbers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2000

struct grid {
    int *n;
    double x[4];
};

int main(int argc, char **argv)
{
    int rank, got;
    double total = 0.0;
    double *sbuf = malloc(2 * N * sizeof(double)), *rbuf = malloc(2 * N * sizeof(double));
    double *other = malloc(64 * sizeof(double));
    int few = N / 2, many = N;
    struct grid *grid = malloc(sizeof *grid);
    void *places[2] = { grid, other };
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        sbuf[i] = i;
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            grid->n = &few;
            for (int i = 0; i < *grid->n; i++)
                sbuf[i] = k + 0.5 * i;
            ((struct grid *)places[argc > 5])->x[argc] = 1.5;
            ((struct grid *)places[argc > 5])->n = &many;
            ((struct grid *)places[argc > 5])->x[argc] = 2.5;
            MPI_Send(sbuf, *grid->n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI102
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
