/* The row is one less than the parameter. */
#include <mpi.h>
#include <stdio.h>

#define N 1600

static double u[N], v[N];
static double sbuf[2][N], rbuf[2][N];

static void give(int number, int peer)
{
    for (int i = 0; i < N; i++)
        sbuf[number - 1][i] = u[i] / number;
    MPI_Send(sbuf[number - 1], N, MPI_DOUBLE, peer, number, MPI_COMM_WORLD); //~ give(sbuf[number - 1])
}

static void take(int number, int peer)
{
    MPI_Recv(rbuf[number - 1], N, MPI_DOUBLE, peer, number, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf[number - 1])
    for (int i = 0; i < N; i++)
        v[i] += rbuf[number - 1][i];
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank < 2) {
        if (rank == 0) {
            give(1, 1);
            give(2, 1);
        } else {
            take(1, 0);
            take(2, 0);
        }
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i % 7);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
