/* An address is put together byte by byte, each set by memset. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 1500

static double few[8];
static double *again = few;

int main(int argc, char **argv)
{
    int rank;
    double s = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *b = malloc(N * sizeof *b);
    unsigned char bytes[sizeof b];
    memcpy(bytes, &b, sizeof b);
    for (size_t i = 0; i < sizeof b; i++)
        memset((unsigned char *)&again + i, bytes[i], 1);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            b[i] = 0.25 * i;
        MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
        for (int i = 0; i < N; i++)
            s += again[i];
    } else if (rank == 1) {
        MPI_Recv(b, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        for (int i = 0; i < N; i++)
            s += again[i];
    }
    printf("%d: %.17g\n", rank, s);
    free(b);
    MPI_Finalize();
    return 0;
}
