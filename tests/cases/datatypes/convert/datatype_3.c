/* Helpers get the datatype and all else. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

static void give(void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    MPI_Send(buf, n, type, to, tag, comm); //~ give(buf)
}

static void take(void *buf, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm)
{
    MPI_Recv(buf, n, type, from, tag, comm, MPI_STATUS_IGNORE); //~ take(buf)
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
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                sbuf[i] = u[i] + step;
            give(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            take(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
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
