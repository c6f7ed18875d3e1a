/* After the send a whole struct of the buffer is copied. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 512

struct cell {
    double x, y, mass;
    int number;
};

int main(int argc, char **argv)
{
    int rank;
    struct cell *cells, *got, first;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    cells = malloc(N * sizeof *cells);
    got = malloc(N * sizeof *got);
    if (!cells || !got)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0) {
        for (int i = 0; i < N; i++) {
            cells[i].x = 0.5 * i;
            cells[i].y = 2.0 * i;
            cells[i].mass = 1.0;
            cells[i].number = i;
        }
        MPI_Send(cells, N * sizeof *cells, MPI_BYTE, 1, 7, MPI_COMM_WORLD); //~ keep OPI101
        first = cells[3];
        printf("%g %d\n", first.x, first.number);
    } else if (rank == 1) {
        double total = 0.0;
        MPI_Recv(got, N * sizeof *got, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            total += got[i].x + got[i].y * got[i].mass + got[i].number;
        printf("%g\n", total);
    }
    free(cells);
    free(got);
    MPI_Finalize();
    return 0;
}
