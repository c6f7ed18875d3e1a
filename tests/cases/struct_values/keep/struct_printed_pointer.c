/* A struct that holds the buffer's address is given to printf by value: what it points to may be read. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
    char *text;
};

int main(int argc, char **argv)
{
    int rank;
    struct line line;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    line.text = malloc(900);
    for (int k = 0; k < 3; k++) {
        memset(line.text, 'a' + k, 899);
        line.text[899] = 0;
        if (rank == 0) {
            MPI_Send(line.text, 900, MPI_CHAR, 1, 0, MPI_COMM_WORLD); //~ keep(line.text)
            printf("%.5s\n", line);
        } else if (rank == 1) {
            MPI_Recv(line.text, 900, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(line.text)
            printf("%.5s\n", line);
        }
    }
    free(line.text);
    MPI_Finalize();
    return 0;
}
