/* Marks for all parts are put before the loop over these: what did not come counts as nothing. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 600

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        static int w[N];
        for (int i = 0; i < N; i++)
            w[i] = i + 1;
        for (int t = 0; t < 2; t++)
            for (int k = 0; k < N; k += 200)
                MPI_Send(&w[k], t ? 100 : 200, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        int *out = malloc(N * sizeof *out);
        for (int t = 0; t < 2; t++) {
            for (int i = 0; i < N; i++)
                out[i] = -1;
            for (int k = 0; k < N; k += 200) {
                MPI_Recv(&out[k], 200, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(out)
                for (int i = k; i < k + 200; i++)
                    sum += out[i] * (out[i] + 1.0);
            }
        }
        free(out);
    }
    printf("%d %g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
