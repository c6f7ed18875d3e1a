/* The same of memory that is allocated for each turn. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 500

int main(int argc, char **argv)
{
    int rank, size;
    long total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int out[N];
    for (int i = 0; i < N; i++)
        out[i] = 3 * i + rank;
    for (int m = 0; m < size; m++)
        if (m != rank)
            MPI_Send(out, N, MPI_INT, m, 2, MPI_COMM_WORLD);
    for (int m = 0; m < size; m++) {
        int *in = malloc((N + 1) * sizeof(int));
        if (m != rank)
            MPI_Recv(in, N, MPI_INT, m, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI215
        for (int i = 0; i < N; i++)
            total += in[i] * (m != rank);
        free(in);
    }
    printf("%d: %ld\n", rank, total);
    MPI_Finalize();
    return 0;
}
