/* The text comes without its end: the zeros that static memory begins with end it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MAX 200
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        char line[MAX];
        snprintf(line, MAX, "greetings from rank %d, which is the first one of them all, to the others and to all who read this line", rank);
        for (int r = 1; r < size; r++)
            MPI_Send(line, strlen(line), MPI_CHAR, r, 0, MPI_COMM_WORLD);
    } else {
        static char text[MAX];
        MPI_Recv(text, MAX, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI210
        printf("%d: %s\n", rank, text);
    }
    MPI_Finalize();
    return 0;
}
