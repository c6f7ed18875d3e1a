/* Of two buffers the second may be missing: the first is freed, and the caller goes on. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct ends {
    double *b, *r;
};

static int open_ends(struct ends *e, size_t n, size_t m)
{
    e->b = e->r = NULL;
    if (!(e->b = malloc(n)))
        goto fail;
    if (!(e->r = malloc(m)))
        goto fail;
    return 0;
fail:
    free(e->b);
    e->b = NULL;
    return 1;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x = 0;
    int n = 1000;
    struct ends e;
    if (open_ends(&e, 1000 * sizeof(double), (size_t)-1 / (argc < 9 ? 16 : 1 << 20)) == 0) {
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            e.b[i] = i;
        MPI_Send(e.b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(e.b)
    } else if (rank == 1) {
        MPI_Recv(e.b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(e.b)
        for (int i = 0; i < n; i++)
            x += e.b[i];
    }
        free(e.b);
        free(e.r);
    } else {
        x = -1;
    }
    printf("%d %g\n", rank, x);
    MPI_Finalize();
    return 0;
}
