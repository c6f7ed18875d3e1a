/* A send that stays is not complete when the pointers change places; the buffer is sent again under the other name. */
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
    MPI_Isend(now, N, MPI_DOUBLE, peer, 9, MPI_COMM_WORLD, &rq); //~ keep
    MPI_Recv(next, N, MPI_DOUBLE, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
    double *t = now;
    now = next;
    next = t;
    MPI_Sendrecv(next, N, MPI_DOUBLE, peer, 8, v, N, MPI_DOUBLE, peer, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(next)
    MPI_Wait(&rq, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        v[i] += now[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(now);
    free(next);
    MPI_Finalize();
    return 0;
}
