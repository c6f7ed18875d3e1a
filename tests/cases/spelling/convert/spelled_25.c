/* A switch whose labels are sums tells who sends. */
#include <mpi.h>
#include <stdio.h>

#define N 2048
#define FIRST 0

static double u[N], v[N], sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    switch (rank) {
    case FIRST:
        for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
            sbuf[i] = u[i] + 1;
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
        break;
    case FIRST + 1:
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        for (int i = 0; i < N; i++)
            v[i] += rbuf[i];
        break;
    }
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
