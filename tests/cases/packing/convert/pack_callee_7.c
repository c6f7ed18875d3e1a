/* A function that calls itself computes the length. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double *now, *next;

static int common(int x, int y)
{
    return y ? common(y, x % y) : x;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    now = malloc(N * sizeof(double));
    next = malloc(N * sizeof(double));
    MPI_Request rq;
    int n = N / common(N, rank + 6);
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < n; i++)
            now[i] = u[i] + step;
        MPI_Irecv(next, N, MPI_DOUBLE, peer, step, MPI_COMM_WORLD, &rq); //~ take(next)
        MPI_Send(now, n, MPI_DOUBLE, peer, step, MPI_COMM_WORLD); //~ give(now)
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        int m = N / common(N, peer + 6);
        for (int i = 0; i < m; i++)
            v[i] += next[i];
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(now);
    free(next);
    MPI_Finalize();
    return 0;
}
