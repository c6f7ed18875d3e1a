/* The same in static arrays of structs; the next one is named by a counter. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 4

struct link {
    int rank;
    double *out, *in;
};

static struct link links[MOST];
static int nlinks;

static void connect(int rank, int n)
{
    struct link *l = &links[nlinks++];
    l->rank = rank;
    l->out = malloc((size_t)n * sizeof(double));
    l->in = malloc((size_t)n * sizeof(double));
}

static void exchange(double *u, int n)
{
    MPI_Request rq[2 * MOST];
    for (int k = 0; k < nlinks; k++)
        MPI_Irecv(links[k].in, n, MPI_DOUBLE, links[k].rank, 5, MPI_COMM_WORLD, &rq[k]); //~ take(links[k].in)
    for (int k = 0; k < nlinks; k++) {
        for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
            links[k].out[i] = u[i] + k;
        MPI_Isend(links[k].out, n, MPI_DOUBLE, links[k].rank, 5, MPI_COMM_WORLD, &rq[nlinks + k]); //~ give(links[k].out)
    }
    MPI_Waitall(2 * nlinks, rq, MPI_STATUSES_IGNORE);
    for (int k = 0; k < nlinks; k++)
        for (int i = 0; i < n; i++)
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
    for (int k = -1; k <= 1; k += 2)
        if (rank + k >= 0 && rank + k < size)
            connect(rank + k, n);
    for (int t = 0; t < 3; t++)
        exchange(u, n);
    for (int i = 0; i < n; i++)
        s += u[i] * i;
    printf("%d %.17g\n", rank, s);
    for (int k = 0; k < nlinks; k++) {
        free(links[k].out);
        free(links[k].in);
    }
    free(u);
    MPI_Finalize();
    return 0;
}
