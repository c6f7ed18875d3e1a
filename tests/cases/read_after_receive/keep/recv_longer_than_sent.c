/* The only message that can meet the receive has 16 of the 20 numbers that are read: the last four are those before. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SENT = 16, ROOM = 20, TURNS = 3 };

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *line = malloc(ROOM * sizeof *line);
    long sum = 0;
    for (int i = 0; i < ROOM; i++)
        line[i] = rank * 100 + i;
    for (int turn = 0; turn < TURNS; turn++) {
        if (rank == 0) {
            for (int i = 0; i < SENT; i++)
                line[i] = turn + i;
            MPI_Send(line, SENT, MPI_INT, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(line, ROOM, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI201
            for (int i = 0; i < ROOM; i++)
                sum += line[i];
        }
    }
    if (rank == 1)
        printf("sum %ld\n", sum);
    free(line);
    MPI_Finalize();
    return 0;
}
