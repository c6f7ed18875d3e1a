/* A function that sets a struct up gives up where there is no memory, and main ends then. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct halo {
    int n;
    double *out, *in;
};

static int setup(struct halo *h, int n)
{
    h->n = n;
    h->out = malloc(n * sizeof(double));
    if (!h->out)
        return 1;
    h->in = malloc(n * sizeof(double));
    if (!h->in)
        return 1;
    return 0;
}
int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    struct halo h;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (setup(&h, 300))
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < h.n; i++) //~ hole: i = 0 => i = 1
                h.out[i] = i + t;
            MPI_Send(h.out, h.n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(h.out)
        } else if (rank == 1) {
            MPI_Recv(h.in, h.n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(h.in)
            for (int i = 0; i < h.n; i++)
                sum += h.in[i];
        }
    }
    printf("%d %g\n", rank, sum);
    free(h.out);
    free(h.in);
    MPI_Finalize();
    return 0;
}
