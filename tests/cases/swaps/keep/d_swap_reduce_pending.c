/* A reduction into one buffer is under way when the pointers change places, and the other name gives it away. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *now = malloc(N * sizeof(double)), *next = malloc(N * sizeof(double));
    MPI_Request rq;
    for (int i = 0; i < N; i++)
        now[i] = u[i];
    MPI_Iallreduce(u, next, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &rq);
    double *t = now;
    now = next;
    next = t;
    MPI_Send(now, N, MPI_DOUBLE, MPI_PROC_NULL, 7, MPI_COMM_WORLD); //~ keep
    MPI_Wait(&rq, MPI_STATUS_IGNORE);
    MPI_Sendrecv(u, N, MPI_DOUBLE, peer, 8, next, N, MPI_DOUBLE, peer, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(next)
    for (int i = 0; i < N; i++)
        v[i] += next[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(now);
    free(next);
    MPI_Finalize();
    return 0;
}
