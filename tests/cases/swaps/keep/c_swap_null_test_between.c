/* A pointer is looked at after the two may have changed places. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double *now, *next;

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    now = malloc(N * sizeof(double));
    if (!now)
        MPI_Abort(MPI_COMM_WORLD, 1);
    next = malloc(N * sizeof(double));
    if (argc > 5) {
        double *tmp = now;
        now = next;
        next = tmp;
    }
    if (!next)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < N; i++)
        now[i] = u[i];
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < N; i++)
            v[i] += now[i];
        if (rank == 0) {
            MPI_Send(now, N, MPI_DOUBLE, peer, step, MPI_COMM_WORLD); //~ keep
            MPI_Recv(next, N, MPI_DOUBLE, peer, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        } else {
            MPI_Recv(next, N, MPI_DOUBLE, peer, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
            MPI_Send(now, N, MPI_DOUBLE, peer, step, MPI_COMM_WORLD); //~ keep
        }
        double *tmp = now;
        now = next;
        next = tmp;
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
