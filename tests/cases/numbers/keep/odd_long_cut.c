/* Two numbers in one of 64 bits: as an int it is the lower one. */
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define N 64

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        int *out = malloc(N * sizeof *out);
        if (!out)
            MPI_Abort(MPI_COMM_WORLD, 1);
        for (int i = 0; i < N; i++)
            out[i] = i;
        long both = (1L << 32) * argc + N / 2;
        for (int turn = 0; turn < 3; turn++) {
            for (int i = 0; i < (int)both; i++)
                out[i] = turn;
            MPI_Send(out, N, MPI_INT, 1, 4, MPI_COMM_WORLD); //~ keep(out) OPI102
        }
        free(out);
    } else if (rank == 1) {
        for (int turn = 0; turn < 3; turn++) {
            int in[N], came;
            long sum = 0;
            MPI_Status status;
            MPI_Recv(in, N, MPI_INT, 0, 4, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_INT, &came);
            for (int i = 0; i < came; i++)
                sum += (i + 1) * (long)in[i];
            printf("%d %d %ld\n", turn, came, sum);
        }
    }
    MPI_Finalize();
    return 0;
}
