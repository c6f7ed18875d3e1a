/* An array of each call is its buffer. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int rank;

static void send_down(int depth)
{
    double mine[N];

    for (int i = 0; i < N; i++)
        mine[i] = u[i] * depth;
    MPI_Send(mine, N, MPI_DOUBLE, 1, depth, MPI_COMM_WORLD); //~ give(mine)
    if (depth > 0)
        send_down(depth - 1);
}

static double take_down(int depth)
{
    double mine[N], sum = 0.0;

    MPI_Recv(mine, N, MPI_DOUBLE, 0, depth, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(mine)
    if (depth > 0)
        sum = take_down(depth - 1);
    for (int i = 0; i < N; i++)
        sum += mine[i] * (i % 7);
    return sum;
}

int main(int argc, char **argv)
{
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0)
        send_down(3);
    else if (rank == 1)
        total = take_down(3);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
