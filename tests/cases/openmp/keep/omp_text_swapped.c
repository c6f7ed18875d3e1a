/* Threads that meet at a barrier are not followed: what the next step reads by the other pointer keeps the send. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static double *now, *before, *edge, *fresh;
static int rank;

//~ flags -fopenmp

static void change(void)
{
#pragma omp master
    {
        if (rank == 0)
            MPI_Send(now, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep OPI101
        if (rank == 1)
            MPI_Recv(edge, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI204
        if (rank == 1)
            MPI_Send(fresh, N, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD); //~ keep OPI101
        if (rank == 0)
            MPI_Recv(fresh + N, N, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI201
    }
#pragma omp barrier
}

static void make(void)
{
    now = calloc(2 * N, sizeof *now);
    before = calloc(2 * N, sizeof *before);
    fresh = calloc(2 * N, sizeof *fresh);
    edge = fresh + 100;
}

static void step(void)
{
    double *other = before;
    before = now;
    now = other;
    for (int i = 1; i < N; i++)
        now[i] = before[i - 1] + i;
}

int main(int argc, char **argv)
{
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    make();
    for (int t = 0; t < 3; t++) {
        step();
        change();
    }
    for (int i = 0; i < N; i++)
        total += now[i] + edge[i] * (i + 1) + fresh[i];
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
