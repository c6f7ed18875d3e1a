/* A function of the program is called between the short name and its message: it changes the words. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 900

static double u[N], v[N];
static double seconds;

struct pair {
    double *out, *in;
};

static double *spare;

static void next(struct pair *p)
{
    double *b = p->out;
    p->out = spare;
    spare = b;
}

static void exchange(struct pair *p, int peer, int step)
{
    MPI_Request rq[2];
    int n = 0;

    MPI_Irecv(p->in, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &rq[n++]); //~ take(p->in)
    if (!spare) {
        spare = malloc(N * sizeof(double));
        for (int i = 0; i < N; i++)
            spare[i] = 0.0;
    }
    for (int i = 0; i < N; i++)
        p->out[i] = u[i] + step;
    double *b = p->out;
    next(p);
    MPI_Isend(b, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &rq[n++]); //~ keep
    MPI_Waitall(n, rq, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        v[i] += p->in[i];
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    struct pair p;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    p.out = malloc(N * sizeof(double));
    p.in = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++)
        exchange(&p, 1 - rank, step);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g %d\n", rank, total, seconds >= 0);
    free(p.out);
    free(p.in);
    MPI_Finalize();
    return 0;
}
