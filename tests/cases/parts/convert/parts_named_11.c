/* Four parts of two sizes; a plain wrapper, and nobody frees. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static void *get(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    return p;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *b, *r, *c, *s;
    int half = N / 2;
    b = (double *)get((2 * N + 2 * half) * sizeof(double));
    r = b + N;
    c = b + 2 * N;
    s = b + 2 * N + half;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = u[i] + step;
            for (int i = 0; i < half; i++)
                c[i] = u[i] - step;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(b)
            MPI_Send(c, half, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD); //~ give(c)
        } else if (rank == 1) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(r)
            MPI_Recv(s, half, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(s)
            for (int i = 0; i < N; i++)
                v[i] += r[i];
            for (int i = 0; i < half; i++)
                v[i] += s[i];
        }
    }
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
