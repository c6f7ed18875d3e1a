/* The length is the last element read of a message, whose block is given back right after the declaration. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double total;

static void turn(int rank, int t)
{
    double *sizes = malloc(300 * sizeof *sizes);
    if (rank == 0) {
        for (int i = 0; i < 300; i++)
            sizes[i] = 300 + t;
        MPI_Send(sizes, 300, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD);
    } else if (rank == 1)
        MPI_Recv(sizes, 300, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) {
        double out[(int)sizes[299]];
        for (int i = 0; i < 300; i++)
            out[i] = i + t;
        MPI_Send(out, 300, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD); //~ keep(out) OPI114
    } else if (rank == 0) {
        double in[300];
        MPI_Recv(in, 300, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 300; i++)
            total += in[i] * (i + 1);
    }
    free(sizes);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++)
        turn(rank, t);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
