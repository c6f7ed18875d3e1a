/* Tables that end a struct on the heap: how many pointers they hold follows from what was allocated. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct edge {
    int n, left, right;
    MPI_Comm comm;
    double *out[2], *in[2];
};

static struct edge *edge_new(int n)
{
    struct edge *e = calloc(1, sizeof *e);
    int rank, size;
    MPI_Comm_dup(MPI_COMM_WORLD, &e->comm);
    MPI_Comm_rank(e->comm, &rank);
    MPI_Comm_size(e->comm, &size);
    e->n = n;
    e->left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    e->right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int d = 0; d < 2; d++) {
        e->out[d] = malloc((size_t)n * sizeof(double));
        e->in[d] = malloc((size_t)n * sizeof(double));
    }
    return e;
}

static void exchange(struct edge *e, double *u)
{
    MPI_Request rq[4];
    int n = 0;
    if (e->left != MPI_PROC_NULL) {
        MPI_Irecv(e->in[0], e->n, MPI_DOUBLE, e->left, 1, e->comm, &rq[n++]); //~ take(e->in[0])
        for (int i = 0; i < e->n; i++)
            e->out[0][i] = u[i] + 1;
        MPI_Isend(e->out[0], e->n, MPI_DOUBLE, e->left, 2, e->comm, &rq[n++]); //~ give(e->out[0])
    }
    if (e->right != MPI_PROC_NULL) {
        MPI_Irecv(e->in[1], e->n, MPI_DOUBLE, e->right, 2, e->comm, &rq[n++]); //~ take(e->in[1])
        for (int i = 0; i < e->n; i++)
            e->out[1][i] = u[i] - 1;
        MPI_Isend(e->out[1], e->n, MPI_DOUBLE, e->right, 1, e->comm, &rq[n++]); //~ give(e->out[1])
    }
    MPI_Waitall(n, rq, MPI_STATUSES_IGNORE);
    if (e->left != MPI_PROC_NULL)
        for (int i = 0; i < e->n; i++)
            u[i] += 0.5 * e->in[0][i];
    if (e->right != MPI_PROC_NULL)
        for (int i = 0; i < e->n; i++)
            u[i] -= 0.25 * e->in[1][i];
}

int main(int argc, char **argv)
{
    int rank, n = 300;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct edge *e = edge_new(n);
    double *u = malloc((size_t)n * sizeof(double)), s = 0;
    for (int i = 0; i < n; i++)
        u[i] = i % 7 + rank;
    for (int t = 0; t < 3; t++)
        exchange(e, u);
    for (int i = 0; i < n; i++)
        s += u[i] * i;
    printf("%d %.17g\n", rank, s);
    for (int d = 0; d < 2; d++) {
        free(e->out[d]);
        free(e->in[d]);
    }
    MPI_Comm_free(&e->comm);
    free(e);
    free(u);
    MPI_Finalize();
    return 0;
}
