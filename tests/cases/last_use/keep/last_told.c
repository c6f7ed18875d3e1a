/* What frees the block also notes that it did: where the block is away, nothing is noted. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 300

static double *make(int rank)
{
    double *v = malloc(N * sizeof *v);

    for (int i = 0; i < N; i++)
        v[i] = rank + 0.5 * i;
    return v;
}

static double *twice(double *old)
{
    double *v = malloc(N * sizeof *v);

    for (int i = 0; i < N; i++)
        v[i] = 2 * old[N - 1 - i];
    free(old);
    return v;
}

int main(int argc, char **argv)
{
    int rank, held = 1;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *v = make(rank);

    v = twice(v);
    if (rank == 1) {
        MPI_Send(v, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD); //~ keep
    } else if (rank == 0) {
        double *in = malloc(N * sizeof *in);

        MPI_Recv(in, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            total += in[i] * (i % 5);
        free(in);
    }
    if (v) {
        free(v);
        held = 0;
    }
    printf("%d: %.17g %d\n", rank, total, held);
    MPI_Finalize();
    return 0;
}
