/* The struct is on the heap, the pointers are set in one function and change places in another. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

struct pair {
    double *now, *next;
};

static struct pair *make(void)
{
    struct pair *p = malloc(sizeof *p);
    p->now = malloc(N * sizeof(double));
    p->next = malloc(N * sizeof(double));
    return p;
}

static void turn(struct pair *p)
{
    double *was = p->next;
    p->next = p->now;
    p->now = was;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    struct pair *p = make();
    MPI_Request rq;
    for (int i = 0; i < N; i++)
        p->now[i] = u[i];
    for (int step = 0; step < 4; step++) {
        MPI_Irecv(p->next, N, MPI_DOUBLE, peer, step, MPI_COMM_WORLD, &rq); //~ take(p->next)
        MPI_Send(p->now, N, MPI_DOUBLE, peer, step, MPI_COMM_WORLD); //~ give(p->now)
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        turn(p);
        for (int i = 0; i < N; i++)
            v[i] += p->now[i];
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(p->now);
    free(p->next);
    free(p);
    MPI_Finalize();
    return 0;
}
