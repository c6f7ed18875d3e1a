/* The size of an array is read from the buffer after the send. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static void show(int n)
{
    printf("%d\n", n);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    unsigned char *b = malloc(N);
    for (int i = 0; i < N; i++)
        b[i] = (unsigned char)(i + 7);
    if (rank == 0) {
        MPI_Send(b, N, MPI_BYTE, 1, 7, MPI_COMM_WORLD); //~ keep
        char room[b[3] + 1];
        room[0] = 1;
        show((int)sizeof room * room[0]);
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
