/* Two pointers are swapped between MPI_Irecv and MPI_Wait: the request would
 * hold the address of the wrong one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    double *now = malloc(N * sizeof(double)), *next = malloc(N * sizeof(double));
    MPI_Request rq;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int i = 0; i < N; i++)
        now[i] = u[i];
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < N; i++)
            sbuf[i] = 2.0 * u[i];
        MPI_Irecv(next, N, MPI_DOUBLE, peer, step, MPI_COMM_WORLD, &rq); //~ keep
        MPI_Send(sbuf, N, MPI_DOUBLE, peer, step, MPI_COMM_WORLD);
        double *old = now;
        now = next;
        next = old;
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] += now[i] - old[i];
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
