/* What is shifted out on the left does not come back: the place is one of eight. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    size_t n = 11 + argc;
    double *out;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    out = malloc(N * sizeof *out);
    for (int i = 0; i < N; i++)
        out[i] = i;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (size_t i = 0; i < n; i++)
                out[i << 61 >> 61] = step + u[i];
            MPI_Send(out, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out) OPI102
        } else if (rank == 1) {
            MPI_Recv(v, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    free(out);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
