/* A wrapper fills the memory and reads it, and half of it is sent as it was. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int calls;
static void *get(size_t bytes)
{
    double *p = malloc(bytes);
    if (!p)
        abort();
    for (size_t i = 0; i < bytes / sizeof *p; i++)
        p[i] = 1.5;
    calls += p[0] > 1.0;
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
    double *b = get(N * sizeof *b);
    double *r = get(N * sizeof *r);
    if (rank == 0) {
        for (int i = 0; i < N / 2; i++)
            b[i] = u[i] + 1;
        MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(b)
        b[0] = 0.0;
    } else if (rank == 1) {
        MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(r)
        for (int i = 0; i < N; i++)
            v[i] += r[i];
    }
    free(b);
    free(r);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
