/* Rows are freed, and their pointers forgotten, where they are not NULL. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1200

struct halo {
    int n, peer;
    double *out[2], *in[2];
};

static double u[N];

static struct halo *make(int n, int peer)
{
    struct halo *h = malloc(sizeof *h);
    if (h == NULL)
        exit(1);
    h->n = n;
    h->peer = peer;
    for (int d = 0; d < 2; d++) {
        h->out[d] = malloc(n * sizeof(double));
        if (h->out[d] == NULL) exit(1);
        h->in[d] = malloc(n * sizeof(double));
        if (h->in[d] == NULL) exit(1);
    }
    return h;
}

static void exchange(struct halo *h, int step)
{
    MPI_Request rq[4];
    for (int d = 0; d < 2; d++)
        MPI_Irecv(h->in[d], h->n, MPI_DOUBLE, h->peer, d, MPI_COMM_WORLD, &rq[d]); //~ take(h->in[d])
    for (int d = 0; d < 2; d++) {
        for (int i = 0; i < h->n; i++) //~ hole: i = 0 => i = 1
            h->out[d][i] = u[i] + d * step;
        MPI_Isend(h->out[d], h->n, MPI_DOUBLE, h->peer, d, MPI_COMM_WORLD, &rq[2 + d]); //~ give(h->out[d])
    }
    MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < h->n; i++)
            u[i] += h->in[d][i] * 0.5;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + i;
    if (rank < 2) {
        struct halo *h = make(N, 1 - rank);
        for (int step = 0; step < 3; step++)
            exchange(h, step);
        for (int d = 0; d < 2; d++) {
            if (h->out[d] != NULL) {
                free(h->out[d]);
                h->out[d] = NULL;
            }
            if (h->in[d] != NULL) {
                free(h->in[d]);
                h->in[d] = NULL;
            }
        }
        free(h);
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
