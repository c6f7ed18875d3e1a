/* A name taken before the swap is used after what is now the other pointer's has been sent. */
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
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < N; i++)
            now[i] = u[i] + step;
        MPI_Irecv(next, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &rq); //~ keep
        MPI_Send(u, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD);
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        double *came = next;
        v[1] += came[0];
        double *t = now;
        now = next;
        next = t;
        MPI_Request back;
        MPI_Irecv(v, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &back);
        MPI_Send(now, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD); //~ keep
        MPI_Wait(&back, MPI_STATUS_IGNORE);
        v[0] += came[1] + next[2];
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
