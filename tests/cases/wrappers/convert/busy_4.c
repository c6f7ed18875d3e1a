/* Pointers in a struct; the wrapper adds up what was asked for. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
struct halo {
    double *out, *in;
    int n;
};
static size_t sum;
static void *get(size_t bytes)
{
    sum += bytes;
    return malloc(bytes);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    struct halo h;
    h.n = N;
    h.out = (double *)get((size_t)h.n * sizeof(double));
    h.in = (double *)get((size_t)h.n * sizeof(double));
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < h.n; i++)
                h.out[i] = u[i] + step;
            MPI_Send(h.out, h.n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(h.out)
        } else if (rank == 1) {
            MPI_Recv(h.in, h.n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(h.in)
            for (int i = 0; i < h.n; i++)
                v[i] += h.in[i];
        }
    }
    free(h.out);
    free(h.in);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g %zu\n", rank, total, sum);
    MPI_Finalize();
    return 0;
}
