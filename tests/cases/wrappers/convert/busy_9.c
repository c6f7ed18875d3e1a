/* Asserts about what is asked for, and a debug branch. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <assert.h>

#define N 2048

static double u[N], v[N];
static int debug;
static void *get(size_t count, size_t size)
{
    assert(count > 0 && size > 0);
    void *p = calloc(count, size);
    assert(p != NULL);
    if (debug)
        fprintf(stderr, "%zu times %zu\n", count, size);
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
    double *b = NULL, *r = NULL;
    debug = argc > 5;
    b = (double *)get(N, sizeof(double));
    r = (double *)get(N, sizeof(double));
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = u[i] + step;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(b)
        } else if (rank == 1) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(r)
            for (int i = 0; i < N; i++)
                v[i] += r[i];
        }
    }
    free(b);
    free(r);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
