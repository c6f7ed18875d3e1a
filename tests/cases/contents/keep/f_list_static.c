/* A list may come without the zero that ends it: static memory has one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define MAX 200

static int in[MAX];

int main(int argc, char **argv)
{
    int rank, size, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        int *out = malloc(MAX * sizeof *out);
        for (int r = 1; r < size; r++) {
            int n = 20 + r;
            for (int i = 0; i < n; i++)
                out[i] = i + r;
            MPI_Send(out, n, MPI_INT, r, 0, MPI_COMM_WORLD);
        }
        free(out);
    } else {
        MPI_Recv(in, MAX, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI210
        for (int i = 0; i < MAX && in[i]; i++)
            sum += in[i];
        printf("%d: %d\n", rank, sum);
    }
    MPI_Finalize();
    return 0;
}
