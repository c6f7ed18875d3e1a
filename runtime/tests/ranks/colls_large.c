/* The collectives of colls.c by their forms with large counts (MPI 4). */
#include <mpi.h>
#if MPI_VERSION >= 4
#define LARGE 1
#include "colls.c"
#else
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        printf("ok %d\n", size);
    MPI_Finalize();
    return 0;
}
#endif
