/* The pointers change places in a function that is called while a parameter stands for one of them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double *now, *next;

static void change(void)
{
    double *t = now;
    now = next;
    next = t;
}

static void turn(double *sent, int peer)
{
    MPI_Request rq;
    MPI_Irecv(next, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &rq); //~ keep
    MPI_Send(sent, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD); //~ keep
    MPI_Wait(&rq, MPI_STATUS_IGNORE);
    change();
    for (int i = 0; i < N; i++)
        v[i] += sent[i];
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
    for (int i = 0; i < N; i++)
        now[i] = u[i];
    for (int step = 0; step < 4; step++)
        turn(now, peer);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(now);
    free(next);
    MPI_Finalize();
    return 0;
}
