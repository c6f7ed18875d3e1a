/* A helper gets the datatype: it is a shorter one here, and half of the buffer is read that the message did not bring. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

static void give(void *buf, int n, MPI_Datatype type, int to)
{
    MPI_Send(buf, n, type, to, 7, MPI_COMM_WORLD);
}

static void take(void *buf, int n, MPI_Datatype type, int from)
{
    MPI_Recv(buf, n, type, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(buf) OPI202
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 4; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                sbuf[i] = u[i] + step;
            give(sbuf, N, MPI_FLOAT, 1);
        } else if (rank == 1) {
            take(rbuf, N, MPI_FLOAT, 0);
            for (int i = 0; i < N; i++)
                v[i] += rbuf[i];
        }
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
