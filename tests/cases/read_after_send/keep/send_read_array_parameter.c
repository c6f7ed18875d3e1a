/* A parameter's type evaluates a size that the buffer holds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static unsigned char *kept;

static void show(int n, char (*rows)[kept[n]])
{
    printf("%d\n", (int)sizeof rows[0]);
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
        kept = b;
        MPI_Send(b, N, MPI_BYTE, 1, 7, MPI_COMM_WORLD); //~ keep
        show(8, NULL);
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
