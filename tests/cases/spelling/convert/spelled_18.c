/* Whether there is memory is kept in a variable first. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

struct halo {
    double *out, *in;
};

static struct halo *make(void)
{
    struct halo *h = malloc(sizeof *h);
    int none = !h;

    if (none)
        return NULL;
    h->out = malloc(N * sizeof(double));
    h->in = malloc(N * sizeof(double));
    return h;
}

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct halo *h = make();
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                h->out[i] = t + 0.5 * i;
            MPI_Send(h->out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(h->out)
        } else if (rank == 1) {
            MPI_Recv(h->in, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(h->in)
            for (int i = 0; i < N; i++)
                sum += (t + 1) * h->in[i];
        }
    }
    free(h->out);
    free(h->in);
    free(h);
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
