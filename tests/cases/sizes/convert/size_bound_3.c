/* A function packs, with a size_t for its parameter. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static void pack(double *to, size_t n, int step)
{
    size_t i = 0;

    while (i < n) {
        to[i] = u[i] + step;
        i++;
    }
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    int n = N / 2;
    double *out, *in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (argc > 1)
        n = atoi(argv[1]);
    out = malloc(N * sizeof *out);
    in = malloc(N * sizeof *in);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            pack(out, n, step);
            MPI_Send(out, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            MPI_Recv(in, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (size_t i = 0; (size_t)n > i; i++)
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
