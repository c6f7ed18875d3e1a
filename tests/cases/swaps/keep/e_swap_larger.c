/* The pointer to the smaller buffer gets the larger one, is given away with all of it, and packed anew. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double back[2 * N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *now = malloc(N * sizeof(double)), *next = malloc(2 * N * sizeof(double));
    MPI_Request rq;
    for (int i = 0; i < N; i++)
        now[i] = u[i];
    MPI_Irecv(next, 2 * N, MPI_DOUBLE, peer, rank, MPI_COMM_WORLD, &rq); //~ keep OPI402
    MPI_Send(now, N, MPI_DOUBLE, peer, peer, MPI_COMM_WORLD); //~ keep OPI402
    MPI_Wait(&rq, MPI_STATUS_IGNORE);
    double *t = now;
    now = next;
    next = t;
    for (int i = 0; i < N; i++)
        v[i] += now[i];
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < 2 * N; i++)
            now[i] = u[i % N] + step;
        MPI_Irecv(back, 2 * N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &rq);
        MPI_Send(now, 2 * N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD); //~ keep OPI402
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] += back[i] + back[N + i];
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
