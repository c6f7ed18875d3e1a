/* Links that are gone through by a pointer. */
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

static void exchange(double *u, int n)
{
    MPI_Request rq[2 * MOST];
    int at = 0;
    for (struct link *l = links; l < links + nlinks; l++)
        MPI_Irecv(l->in, n, MPI_DOUBLE, l->rank, 5, MPI_COMM_WORLD, &rq[at++]); //~ take(l->in)
    for (struct link *l = links; l < links + nlinks; l++) {
        for (int i = 0; i < n; i++)
            l->out[i] = u[i] + 1;
        MPI_Isend(l->out, n, MPI_DOUBLE, l->rank, 5, MPI_COMM_WORLD, &rq[at++]); //~ give(l->out)
    }
    MPI_Waitall(at, rq, MPI_STATUSES_IGNORE);
    for (struct link *l = links; l < links + nlinks; l++)
        for (int i = 0; i < n; i++)
            u[i] += 0.5 * l->in[i];
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
        if (rank + k >= 0 && rank + k < size) {
            links[nlinks].rank = rank + k;
            links[nlinks].out = malloc((size_t)n * sizeof(double));
            links[nlinks].in = malloc((size_t)n * sizeof(double));
            nlinks++;
        }
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
