/* Two functions call each other, and their messages are those of a third. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int rank;

static void put(double *b, int n, int tag)
{
    MPI_Send(b, n, MPI_DOUBLE, 1 - rank, tag, MPI_COMM_WORLD); //~ give(b)
}

static void even(int n, int depth);

static void odd(int n, int depth)
{
    double *mine = malloc(n * sizeof *mine);

    for (int i = 0; i < n; i++)
        mine[i] = u[i] - depth;
    put(mine, n, depth);
    free(mine);
    if (depth > 0)
        even(n - 10, depth - 1);
}

static void even(int n, int depth)
{
    double *mine = malloc(n * sizeof *mine);

    for (int i = 0; i < n; i++)
        mine[i] = u[i] + depth;
    if (depth > 0)
        odd(n - 20, depth - 1);
    put(mine, n, depth);
    free(mine);
}

static void all(int depth)
{
    for (int d = 0; d <= depth; d++) {
        double *in = malloc(N * sizeof *in);
        MPI_Status status;
        int n;

        MPI_Recv(in, N, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status); //~ take(in)
        MPI_Get_count(&status, MPI_DOUBLE, &n);
        for (int i = 0; i < n; i++)
            v[i] += in[i];
        free(in);
    }
}

int main(int argc, char **argv)
{
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0)
        even(N, 4);
    else if (rank == 1)
        all(4);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
