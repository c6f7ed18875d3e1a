/* A short name for a short name, in a block of its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

struct halo {
    double *out, *in;
    int n;
};

static void send(struct halo *h, int peer)
{
    double *b = h->out;
    {
        double *c = b;
        MPI_Send(c, h->n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); //~ give(out)
    }
}

static void receive(struct halo *h, int peer)
{
    int n = h->n;
    double *b = h->in;
    {
        MPI_Status status;
        int tag = 0;
        {
            double *c = b;
            MPI_Recv(c, n, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, &status); //~ take(in)
        }
    }
}

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct halo *h = malloc(sizeof *h);
    h->n = N;
    h->out = malloc(N * sizeof(double));
    h->in = malloc(N * sizeof(double));
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                h->out[i] = t + 0.5 * i;
            send(h, 1);
        } else if (rank == 1) {
            receive(h, 0);
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
