/* The size of an array moves where packing begins. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    unsigned char *b = malloc(N);
    for (int i = 0; i < N; i++)
        b[i] = (unsigned char)(i + 7);
    if (rank == 0) {
        int from = 0;
        char room[++from + 3];
        room[0] = 0;
        free(b);
        b = calloc(N, 1);
        for (int i = from; i < N; i++)
            b[i] = (unsigned char)(i + room[0]);
        MPI_Send(b, N, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(b, N, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int total = 0;
        for (int i = 0; i < N; i++)
            total += b[i];
        printf("%d: %d\n", rank, total);
    }
    free(b);
    MPI_Finalize();
    return 0;
}
