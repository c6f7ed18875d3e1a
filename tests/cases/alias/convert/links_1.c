/* A list of neighbours: as many as there are, each with a buffer that a pointer to its struct names. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct link {
    int rank, n;
    double *buf;
};

struct plan {
    int nl;
    struct link *to, *from;
    MPI_Request *rq;
};

static struct plan *plan_new(int rank, int size, int n)
{
    struct plan *p = malloc(sizeof *p);
    p->nl = 0;
    p->to = calloc(2, sizeof *p->to);
    p->from = calloc(2, sizeof *p->from);
    p->rq = malloc(4 * sizeof *p->rq);
    for (int k = -1; k <= 1; k += 2) {
        if (rank + k < 0 || rank + k >= size)
            continue;
        struct link *s = &p->to[p->nl], *r = &p->from[p->nl];
        s->rank = r->rank = rank + k;
        s->n = r->n = n;
        s->buf = malloc((size_t)n * sizeof(double));
        r->buf = malloc((size_t)n * sizeof(double));
        p->nl++;
    }
    return p;
}

static void exchange(struct plan *p, double *u)
{
    int n = 0;
    for (int k = 0; k < p->nl; k++)
        MPI_Irecv(p->from[k].buf, p->from[k].n, MPI_DOUBLE, p->from[k].rank, 5, MPI_COMM_WORLD, &p->rq[n++]); //~ take(p->from[k].buf)
    for (int k = 0; k < p->nl; k++) {
        struct link *s = &p->to[k];
        for (int i = 0; i < s->n; i++) //~ hole: i = 0 => i = 1
            s->buf[i] = u[i] + k;
        MPI_Isend(s->buf, s->n, MPI_DOUBLE, s->rank, 5, MPI_COMM_WORLD, &p->rq[n++]); //~ give(s->buf)
    }
    MPI_Waitall(n, p->rq, MPI_STATUSES_IGNORE);
    for (int k = 0; k < p->nl; k++) {
        struct link *r = &p->from[k];
        for (int i = 0; i < r->n; i++)
            u[i] += 0.5 * r->buf[i];
    }
}

static void plan_free(struct plan *p)
{
    for (int k = 0; k < p->nl; k++) {
        free(p->to[k].buf);
        free(p->from[k].buf);
    }
    free(p->to);
    free(p->from);
    free(p->rq);
    free(p);
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
    struct plan *p = plan_new(rank, size, n);
    for (int t = 0; t < 3; t++)
        exchange(p, u);
    for (int i = 0; i < n; i++)
        s += u[i] * i;
    printf("%d %.17g\n", rank, s);
    plan_free(p);
    free(u);
    MPI_Finalize();
    return 0;
}
