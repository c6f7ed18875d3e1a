/* Both parameters are one pointer's address: what is written through the second is sent by the first. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static void shift(double **a, double **b, double *c)
{
    double *old = *a;

    *b = c;
    for (int i = 0; i < N; i++)
        c[i] = old[i] + (*a)[0];
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    double *out, *in, *other;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    out = malloc(N * sizeof *out);
    in = malloc(N * sizeof *in);
    other = malloc(N * sizeof *other);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = u[i] + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out)
            if (step == 1)
                shift(&out, &out, other);
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                v[i] += in[i];
        }
    }
    printf("%d\n", out == other);
    free(in);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
