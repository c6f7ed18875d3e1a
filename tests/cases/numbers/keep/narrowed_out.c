/* A loop is left in the middle by a test of a number that has lost bits: that is no bound of the loop. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 40

static long word;

int main(int argc, char **argv)
{
    int rank;
    double total = 0, kept = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    word = (long)strtod("4294967296", NULL);
    double *out = malloc(N * sizeof(double)), *in = malloc(N * sizeof(double));
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            out[i] = 0.5 * i;
        if (word > 5)
            MPI_Send(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(out)
        for (int i = 0; i < 3; i++) {
            if ((int)word > 5)
                break;
            kept += out[i];
        }
    } else if (rank == 1) {
        MPI_Recv(in, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            total += in[i];
    }
    printf("%d %.17g %.17g\n", rank, total, kept);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
