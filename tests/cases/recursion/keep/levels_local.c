/* A deeper level writes through a pointer to a variable of the level above. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static void last(int *n, int depth)
{
    int mine = 5;

    if (depth > 2) {
        *n = 3;
        return;
    }
    last(&mine, depth + 1);
    *n = mine;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    double *out, *in;
    int n = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    out = malloc(N * sizeof *out);
    in = malloc(N * sizeof *in);
    for (int i = 0; i < N; i++)
        out[i] = i;
    last(&n, 0);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < (n == 5 ? N : n); i++)
                out[i] = u[i] + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out) OPI102
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                v[i] += in[i];
        }
    }
    free(out);
    free(in);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
