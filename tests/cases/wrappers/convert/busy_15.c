/* Two buffers in one declaration, of a size in a struct; functions have their address taken elsewhere. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct grid {
    int n;
    double shift;
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double exchange(struct grid *g, int rank, int step)
{
    double s = 0, *out = malloc(g->n * sizeof *out), *in = malloc(g->n * sizeof *in);

    if (rank == 0) {
        for (int i = 0; i < g->n; i++) //~ hole: i = 0 => i = 1
            out[i] = (i * 7) % 11 + g->shift * step;
        MPI_Send(out, g->n, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); //~ give(out)
    } else if (rank == 1) {
        MPI_Recv(in, g->n, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
        for (int i = 0; i < g->n; i++)
            s += in[i] * i;
    }
    free(out);
    free(in);
    return s;
}

int main(int argc, char **argv)
{
    struct grid *g = malloc(sizeof *g);
    double sums[4];
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    g->n = 300 + argc;
    g->shift = 0.5;
    for (int step = 0; step < 4; step++)
        sums[step] = exchange(g, rank, 3 - step);
    qsort(sums, 4, sizeof *sums, ascending);
    printf("%d %.17g %.17g\n", rank, sums[0], sums[3]);
    free(g);
    MPI_Finalize();
    return 0;
}
