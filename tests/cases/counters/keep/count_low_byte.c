/* Storing to one byte of a count leaves the others: 356 elements are sent, 100 are written. */
#include <mpi.h>
#include <stdio.h>

#define ROOM 400

static double out[ROOM];
static double in[ROOM];

static int how_many(int all)
{
    int n = 256 + all;
    *(unsigned char *)&n = 100;
    return n;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int turn = 0; turn < 3; turn++) {
            int n = how_many(7);
            for (int i = 0; i < 100 * turn + 156; i++)
                out[i] = i + 0.5 * turn;
            for (int i = 0; i < 100; i++)
                out[i] = 2.0 * i;
            MPI_Send(out, n, MPI_DOUBLE, 1, turn, MPI_COMM_WORLD); //~ keep(out)
        }
    } else if (rank == 1) {
        for (int turn = 0; turn < 3; turn++) {
            double total = 0.0;
            MPI_Recv(in, ROOM, MPI_DOUBLE, 0, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < 356; i++)
                total += (i + 1) * in[i];
            printf("%.17g\n", total);
        }
    }
    MPI_Finalize();
    return 0;
}
