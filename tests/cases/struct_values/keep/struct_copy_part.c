/* Another struct is copied over the sizes: how much of it is packed is told elsewhere. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int n, rows, steps;
    double factor;
} Sizes;

static double u[3000];
static int rank, size;

static void exchange(const Sizes s, double *out, double *in)
{
    for (int i = 0; i < s.rows; i++)
        out[i] = s.factor * i + rank + u[i];
    MPI_Sendrecv(out, s.n, MPI_DOUBLE, (rank + 1) % size, 0, in, s.n, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(out) take(in)
    for (int i = 0; i < s.n; i++)
        u[i] += in[i];
}

int main(int argc, char **argv)
{
    double total = 0.0;
    Sizes p = {0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    p.n = argc > 5 ? atoi(argv[5]) : 700;
    p.rows = p.n;
    p.factor = 0.5;
    double *out = malloc((p.n + 8) * sizeof *out), *in = malloc((p.n + 8) * sizeof *in);
    for (int i = 0; i < p.n + 8; i++)
        out[i] = i;
    Sizes few = p;

    few.rows = argc > 6 ? p.n : p.n - 2;
    p = few;
    for (int step = 0; step < 3; step++)
        exchange(p, out, in);
    for (int i = 0; i < p.n; i++)
        total += u[i] * (i % 7);
    printf("%d: %.17g\n", rank, total);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
