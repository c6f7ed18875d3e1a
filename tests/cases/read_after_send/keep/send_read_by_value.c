/* Cells that were sent are given to a function by value. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

struct cell {
    double mass, speed;
};

static double energy(struct cell c)
{
    return 0.5 * c.mass * c.speed * c.speed;
}

int main(int argc, char **argv)
{
    int rank;
    static double got[2 * N];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct cell *cells = malloc(N * sizeof(struct cell));
    for (int i = 0; i < N; i++) {
        cells[i].mass = rank + i;
        cells[i].speed = 0.5 * i;
    }
    double total = 0.0;
    if (rank == 0) {
        MPI_Send(cells, 2 * N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
        for (int i = 0; i < N; i++)
            total += energy(cells[i]);
    } else if (rank == 1) {
        MPI_Recv(got, 2 * N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 2 * N; i++)
            total += got[i];
    }
    printf("%d: %.17g\n", rank, total);
    free(cells);
    MPI_Finalize();
    return 0;
}
