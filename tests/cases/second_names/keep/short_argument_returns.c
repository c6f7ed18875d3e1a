/* A function in an argument of the message counts in what it returns. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 900

static double u[N], v[N];
static double seconds;

struct pair {
    double *out, *in;
};

static double *both[2];
static int k;

static int step_on(int peer)
{
    return peer + 0 * k++;
}

static void exchange(struct pair *p, int peer, int step)
{
    MPI_Request rq[2];
    int n = 0;

    MPI_Irecv(p->in, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &rq[n++]); //~ take(p->in)
    k = 0;
    if (!both[0])
        for (int d = 0; d < 2; d++)
            both[d] = malloc(N * sizeof(double));
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < N; i++)
            both[d][i] = u[i] + step;
    double *b = both[k];
    MPI_Isend(b, N, MPI_DOUBLE, step_on(peer), 1, MPI_COMM_WORLD, &rq[n++]); //~ keep
    v[0] += both[k][1] + both[0][0];
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
