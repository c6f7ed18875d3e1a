/* A pointer that may stand for the buffer, as far as anyone can see, and of which a person says that it does not. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 700

static double u[N], v[N];

static double *choose(int which, double *a, double *b)
{
    return which > 100 ? a : b;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *out = malloc(N * sizeof(double));
    double *in = malloc(N * sizeof(double));
    double *work = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++)
        u[i] = work[i] = rank + 0.5 * i;
    /* opi: assume disjoint(out, scratch) */
    double *scratch = choose(argc, out, work);
    for (int step = 0; step < 2; step++) {
        for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
            out[i] = u[i] + step;
        MPI_Sendrecv(out, N, MPI_DOUBLE, 1 - rank, 1, in, N, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(out) take(in)
        for (int i = 0; i < N; i++)
            v[i] += in[i] * scratch[i];
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(out);
    free(in);
    free(work);
    MPI_Finalize();
    return 0;
}
