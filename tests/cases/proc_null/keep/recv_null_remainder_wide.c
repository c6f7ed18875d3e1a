/* A ring whose first rank receives from `-1 % size`, computed in a wider type: that is -1 in C, and MPI_PROC_NULL in some MPIs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *in = malloc(N * sizeof *in), *out = malloc(N * sizeof *out);
    int from = (int)((long)(rank - 1) % size);
    for (int i = 0; i < N; i++)
        in[i] = i;
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < N; i++)
            out[i] = in[i] + rank + turn;
        if (rank + 1 < size)
            MPI_Send(out, N, MPI_DOUBLE, rank + 1, 3, MPI_COMM_WORLD);
        MPI_Recv(in, N, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ replace
        for (int i = 0; i < N; i++)
            total += in[i] * (i + 1);
    }
    printf("%d: %.17g\n", rank, total);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
