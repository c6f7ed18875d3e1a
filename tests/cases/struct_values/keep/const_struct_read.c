/* After the function that gets the struct as a const one, main reads what was sent. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct halo {
    int n, peer;
    double *out, *in;
};

static void exchange(const struct halo *h, double *u)
{
    MPI_Request rq[2];
    for (int i = 0; i < h->n; i++)
        h->out[i] = u[i] * 2;
    MPI_Irecv(h->in, h->n, MPI_DOUBLE, h->peer, 7, MPI_COMM_WORLD, &rq[0]); //~ take(h->in)
    MPI_Isend(h->out, h->n, MPI_DOUBLE, h->peer, 7, MPI_COMM_WORLD, &rq[1]); //~ keep OPI101
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
    for (int i = 0; i < h->n; i++)
        u[i] += h->in[i] / 4;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = 300;
    double *u = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++)
        u[i] = rank + i;
    struct halo h;
    h.n = n;
    h.peer = size - 1 - rank;
    h.out = malloc(n * sizeof(double));
    h.in = malloc(n * sizeof(double));
    for (int t = 0; t < 3; t++)
        exchange(&h, u);
    double s = h.out[3];
    for (int i = 0; i < n; i++)
        s += u[i] * i;
    printf("%d %.17g\n", rank, s);
    free(h.out);
    free(h.in);
    free(u);
    MPI_Finalize();
    return 0;
}
