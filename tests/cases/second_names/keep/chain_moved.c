/* Short names for a short name, which is set anew, or whose words mean something else, before the message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

struct halo {
    double *out, *in, *spare;
    int n;
};

static void send(struct halo *h, int peer)
{
    double *b = h->out;
    {
        double *c = b;
        b = h->spare;
        b[0] = h->n;
        MPI_Send(c, h->n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); //~ keep
    }
}

static void swap(struct halo *h)
{
    double *other = h->in;
    h->in = h->spare;
    h->spare = other;
}

static void receive(struct halo *h, int peer)
{
    double *b = h->in;
    swap(h);
    {
        double *c = b;
        MPI_Recv(c, h->n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
    }
    swap(h);
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
    h->spare = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++)
        h->spare[i] = i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                h->out[i] = t + 0.5 * i;
            send(h, 1);
        } else if (rank == 1) {
            receive(h, 0);
            for (int i = 0; i < N; i++)
                sum += (t + 1) * h->in[i];
        }
    }
    sum += h->spare[0] + h->spare[N - 1];
    free(h->out);
    free(h->in);
    free(h->spare);
    free(h);
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
