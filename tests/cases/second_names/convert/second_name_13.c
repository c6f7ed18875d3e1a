/* A function that prints as printf does is called between the short name and its message. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

struct halo {
    double *out[2], *in;
    int n, now;
};

static double began[4], spent;

static int loud(int level)
{
    int most = 0;
    for (int i = 1; i < level; i++)
        most = i;
    return most > 1;
}

static void tell(const char *form, ...)
{
    va_list list;
    if (!loud(2))
        return;
    va_start(list, form);
    vfprintf(stderr, form, list);
    va_end(list);
}

static void exchange(struct halo *h, int peer)
{
    if (peer == 1) {
        for (int i = 0; i < h->n; i++) //~ hole: i = 0 => i = 1
            h->out[0][i] = 0.5 * i + h->now;
        double *b = h->out[0];
        tell("to %d\n", peer);
        MPI_Send(b, h->n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); //~ give(b)
    } else {
        MPI_Recv(h->in, h->n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(h->in)
        for (int i = 0; i < h->n; i++)
            spent += h->in[i];
    }
}

int main(int argc, char **argv)
{
    int rank;
    struct halo h = { { NULL, NULL }, NULL, N, 0 };

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    h.out[0] = malloc(N * sizeof(double));
    h.out[1] = malloc(N * sizeof(double));
    h.in = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++)
        h.out[0][i] = h.out[1][i] = 0.0;
    for (int t = 0; t < 3; t++) {
        h.now = t;
        exchange(&h, 1 - rank);
    }
    free(h.out[0]);
    free(h.out[1]);
    free(h.in);
    printf("%d %.17g\n", rank, spent);
    MPI_Finalize();
    return 0;
}
