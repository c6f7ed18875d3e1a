/* A terminating zero is written after the received characters. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define N 2048

static char line[N], text[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int count = N - 1;
    if (rank == 0) {
        memset(line, 'x', N);
        MPI_Send(line, N - 1, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(text, count, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI216
        text[count] = 0;
        printf("%d %c\n", (int)strlen(text), text[count - 1]);
    }
    MPI_Finalize();
    return 0;
}
