/* Two pointers in a struct change places in a function; nonblocking both ways. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

struct pair {
    double *now, *next;
    int len;
};

static void swap(double **x, double **y)
{
    double *t = *x;
    *x = *y;
    *y = t;
}

static void shift(struct pair *p, int peer, int tag)
{
    MPI_Request rq[2];
    MPI_Irecv(p->next, p->len, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, &rq[0]); //~ take(p->next)
    MPI_Isend(p->now, p->len, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, &rq[1]); //~ give(p->now)
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
    swap(&p->now, &p->next);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    struct pair p;
    p.len = N;
    p.now = malloc((size_t)p.len * sizeof(double));
    p.next = malloc((size_t)p.len * sizeof(double));
    for (int i = 0; i < p.len; i++)
        p.now[i] = u[i];
    for (int step = 0; step < 4; step++) {
        shift(&p, peer, step);
        for (int i = 0; i < p.len; i++)
            v[i] += p.now[i];
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(p.now);
    free(p.next);
    MPI_Finalize();
    return 0;
}
