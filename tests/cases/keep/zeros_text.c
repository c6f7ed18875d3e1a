/* A text that comes without its end is ended by the zeros that its array began with. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static char line[200];

int main(int argc, char **argv)
{
    int rank, before;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    before = (int)strlen(line);
    if (rank == 0) {
        char out[200];
        memset(out, 'a', sizeof out);
        MPI_Send(out, 100, MPI_CHAR, 1, 0, MPI_COMM_WORLD); //~ give(out)
    } else if (rank == 1) {
        MPI_Recv(line, 200, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI210
        printf("%d %d\n", before, (int)strlen(line));
    }
    MPI_Finalize();
    return 0;
}
