/* The function that allocates makes a reduction, whose operation sets what the size is made of. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static int count = N, calls;
static MPI_Op least;

static void shrink(void *in, void *out, int *n, MPI_Datatype *type)
{
    (void)in, (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)out)[i] = 1;
    count = 8;
}

static double *get(size_t bytes)
{
    int x = 1, y;

    MPI_Allreduce(&x, &y, 1, MPI_INT, least, MPI_COMM_WORLD);
    calls += y;
    return malloc(bytes);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0, *out, *in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(shrink, 1, &least);
    out = get(count * sizeof(double));
    in = malloc(N * sizeof(double));
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < N; i++)
            out[i] = rank + 0.5 * i + t;
        MPI_Sendrecv(out, N, MPI_DOUBLE, 1 - rank, 0, in, N, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(out) take(in)
        for (int i = 0; i < N; i++)
            total += in[i] * (i % 5);
    }
    printf("%d: %.17g %d %d\n", rank, total, calls, count);
    free(out);
    free(in);
    MPI_Op_free(&least);
    MPI_Finalize();
    return 0;
}
