/* Before each receive is printed what stands there where the message is empty. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#define MAX 200
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        for (int step = 0; step < 3; step++) {
            char line[MAX];
            memset(line, 'a' + step, MAX);
            line[MAX - 1] = 0;
            for (int r = 1; r < size; r++)
                MPI_Send(line, step % 2 ? 0 : MAX, MPI_CHAR, r, 0, MPI_COMM_WORLD);
        }
    } else {
        for (int step = 0; step < 3; step++) {
            char text[MAX];
            sprintf(text, "nothing %d", 0);
            MPI_Recv(text, MAX, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(text) OPI210
            printf("%d: %s\n", rank, text);
        }
    }
    MPI_Finalize();
    return 0;
}
