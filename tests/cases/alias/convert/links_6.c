/* Buffers of different sizes, one for each link. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 4

struct link {
    int rank, n;
    double *out, *in;
};

static struct link links[MOST];
static int nlinks;

static void exchange(double *u)
{
    MPI_Request rq[2 * MOST];
    for (int k = 0; k < nlinks; k++) {
        struct link *l = &links[k];
        MPI_Irecv(l->in, l->n, MPI_DOUBLE, l->rank, 5, MPI_COMM_WORLD, &rq[k]); //~ take(l->in)
    }
    for (int k = 0; k < nlinks; k++) {
        struct link *l = &links[k];
        for (int i = 0; i < l->n; i++) //~ hole: i = 0 => i = 1
            l->out[i] = u[i] + k;
        MPI_Isend(l->out, l->n, MPI_DOUBLE, l->rank, 5, MPI_COMM_WORLD, &rq[nlinks + k]); //~ give(l->out)
    }
    MPI_Waitall(2 * nlinks, rq, MPI_STATUSES_IGNORE);
    for (int k = 0; k < nlinks; k++) {
        struct link *l = &links[k];
        for (int i = 0; i < l->n; i++)
            u[i] += 0.5 * l->in[i];
    }
}

int main(int argc, char **argv)
{
    int rank, size, n = 200;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *u = malloc((size_t)n * sizeof(double)), s = 0;
    for (int i = 0; i < n; i++)
        u[i] = i % 7 + rank;
    for (int q = 0; q < size && nlinks < MOST; q++)
        if (q != rank) {
            struct link *l = &links[nlinks++];
            l->rank = q;
            l->n = 20 * (1 + (q + rank) % 3);
            l->out = malloc((size_t)l->n * sizeof(double));
            l->in = malloc((size_t)l->n * sizeof(double));
        }
    for (int t = 0; t < 3; t++)
        exchange(u);
    for (int i = 0; i < n; i++)
        s += u[i] * i;
    printf("%d %.17g\n", rank, s);
    for (struct link *l = links; l < links + nlinks; l++) {
        free(l->out);
        free(l->in);
    }
    free(u);
    MPI_Finalize();
    return 0;
}
