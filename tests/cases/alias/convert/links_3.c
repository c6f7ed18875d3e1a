/* A function that opens one link, given its struct. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 4

struct link {
    int rank, n;
    double *out, *in;
};

static struct link links[MOST];

static void link_open(struct link *l, int rank, int n)
{
    l->rank = rank;
    l->n = n;
    l->out = malloc((size_t)n * sizeof(double));
    l->in = malloc((size_t)n * sizeof(double));
}

static void link_close(struct link *l)
{
    free(l->out);
    free(l->in);
}

static void exchange(int nlinks, double *u)
{
    MPI_Request rq[2 * MOST];
    for (int k = 0; k < nlinks; k++)
        MPI_Irecv(links[k].in, links[k].n, MPI_DOUBLE, links[k].rank, 5, MPI_COMM_WORLD, &rq[k]); //~ take(links[k].in)
    for (int k = 0; k < nlinks; k++) {
        struct link *l = &links[k];
        for (int i = 0; i < l->n; i++) //~ hole: i = 0 => i = 1
            l->out[i] = u[i] + k;
        MPI_Isend(l->out, l->n, MPI_DOUBLE, l->rank, 5, MPI_COMM_WORLD, &rq[nlinks + k]); //~ give(l->out)
    }
    MPI_Waitall(2 * nlinks, rq, MPI_STATUSES_IGNORE);
    for (int k = 0; k < nlinks; k++)
        for (int i = 0; i < links[k].n; i++)
            u[i] += 0.5 * links[k].in[i];
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
    int nlinks = 0;
    for (int k = -1; k <= 1; k += 2)
        if (rank + k >= 0 && rank + k < size)
            link_open(&links[nlinks++], rank + k, n / 2);
    for (int t = 0; t < 3; t++)
        exchange(nlinks, u);
    for (int i = 0; i < n; i++)
        s += u[i] * i;
    printf("%d %.17g\n", rank, s);
    for (int k = 0; k < nlinks; k++)
        link_close(&links[k]);
    free(u);
    MPI_Finalize();
    return 0;
}
