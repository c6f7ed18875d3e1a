/* What a comparison has found in one turn it need not find in the next: the last memory may be missing. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 3000
#define NEW 3
#define TURNS 5

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0, *out = malloc(N * sizeof *out);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!out)
        exit(1);
    for (int t = 0;; t++) {
        if (!out && t < NEW)
            exit(1);
        if (rank == 0 && out) {
            for (int i = 0; i < N; i++)
                out[i] = i + t;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out) OPI105
        } else if (rank == 1 && out) {
            MPI_Recv(out, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(out) OPI205
            for (int i = 0; i < N; i++)
                total += out[i] * t;
        }
        if (t == TURNS)
            break;
        free(out);
        out = NULL;
        if (t < NEW)
            out = malloc(N * sizeof *out);
    }
    free(out);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
