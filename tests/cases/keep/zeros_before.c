/* What adds up comes after a place was set, in no function that both are in. */
#include <mpi.h>
#include <stdio.h>

#define N 32

static double c[N][N];
static double w[N];

static void add(int rank)
{
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                c[i][j] += w[k] * (i + j) + rank;
}

static void seed(void)
{
    c[3][3] = 7;
}

static void send(void)
{
    MPI_Send(c, N * N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep OPI110
}

static void receive(void)
{
    double s = 0;
    MPI_Recv(c, N * N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI210
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            s += c[i][j] * (i + 2 * j);
    printf("%.17g\n", s);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        w[i] = i * 0.5;
    if (rank == 0) {
        seed();
        add(rank);
        send();
    } else if (rank == 1) {
        receive();
    }
    MPI_Finalize();
    return 0;
}
