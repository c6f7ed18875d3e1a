/* A declaration allocates two blocks, and frees the struct that the size of one stands in: each is asked for where it was. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 301

struct grid {
    int n;
    double shift;
};

static double *drop(struct grid *g)
{
    free(g);
    return NULL;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 3; step++) {
        struct grid *g = malloc(sizeof *g);
        g->n = N;
        g->shift = 0.5;
        double *out = malloc(g->n * sizeof *out), *in = malloc(N * sizeof *in), *none = drop(g);
        total += none != NULL;
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = (i * 7) % 11 + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                total += in[i] * i;
        }
        free(out);
        free(in);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
