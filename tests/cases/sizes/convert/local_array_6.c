/* Automatic arrays, one per function, sized by a macro expression. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N];

#define BYTES (N * 8)

static void produce(void)
{
    double sbuf[BYTES / 8];
    for (int i = 0; i != N; i += 1)
        sbuf[i] = u[i] - 1.0;
    MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
}

static double consume(void)
{
    double rbuf[BYTES / 8];
    double sum = 0.0;
    MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
    for (int i = 0; i != N; i += 1)
        sum += rbuf[i] * i;
    return sum;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0)
        produce();
    else if (rank == 1)
        printf("%.17g\n", consume());
    MPI_Finalize();
    return 0;
}
