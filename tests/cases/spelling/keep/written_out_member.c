/* A struct's pointers are named by macros only, and another configuration has others. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct halo {
    double *in;
    int n;
};

#ifdef FLAT
#define IN flat.in
#else
#define IN h->in
#endif

static void exchange(struct halo *h, int rank)
{
    if (rank == 0) {
        for (int i = 0; i < h->n; i++)
            IN[i] = i;
        MPI_Send(IN, h->n, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(IN, h->n, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(IN) OPI215
        printf("%g\n", IN[h->n - 1]);
    }
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct halo *h = malloc(sizeof *h);
    h->n = 77;
    IN = malloc(h->n * sizeof(double));
    exchange(h, rank);
    free(IN);
    free(h);
    MPI_Finalize();
    return 0;
}
//~ silent: the text is what forbids it
