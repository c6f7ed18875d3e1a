/* Which block a pointer has decides whether another buffer is read after it was sent. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double other[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *now = malloc(N * sizeof(double)), *next = malloc(N * sizeof(double));
    MPI_Request rq[2];
    for (int i = 0; i < N; i++)
        now[i] = u[i];
    double *first = now;
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < N; i++)
            other[i] = u[i] + step;
        MPI_Irecv(v, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &rq[0]);
        MPI_Irecv(next, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &rq[1]); //~ keep
        MPI_Send(now, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD); //~ keep
        MPI_Send(other, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD); //~ keep OPI101
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        double *t = now;
        now = next;
        next = t;
        if (now != first)
            u[step] += other[1];
        u[0] += now[2];
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
