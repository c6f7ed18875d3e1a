/* External arrays, packed, sent and unpacked in different functions. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
double sbuf[N], rbuf[N];

static void pack(void)
{
    for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
        sbuf[i] = 2.0 * u[i];
}

static void send(int to)
{
    MPI_Send(sbuf, N, MPI_DOUBLE, to, 7, MPI_COMM_WORLD); //~ give(sbuf)
}

static void receive(int from)
{
    MPI_Recv(rbuf, N, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
}

static void unpack(void)
{
    for (int i = 0; i < N; i++)
        v[i] = rbuf[i];
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        pack();
        send(1);
    } else if (rank == 1) {
        receive(0);
        unpack();
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
