/* A buffer that is filled with numbers once, to begin with, and received into whole in each turn. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 200

int main(int argc, char **argv)
{
    int rank;
    double total = 0;
    double *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        in[i] = out[i] = -1.0;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                out[i] = i + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                total += in[i] * (i + 1);
        }
    }
    printf("%d %.17g\n", rank, total);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
