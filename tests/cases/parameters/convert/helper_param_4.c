/* A generic wrapper around the calls: void pointers, the datatype passed along in bytes. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

static void put(const void *data, int bytes, int to)
{
    MPI_Send(data, bytes, MPI_BYTE, to, 7, MPI_COMM_WORLD); //~ give(data)
}

static void get(void *data, int bytes, int from)
{
    MPI_Recv(data, bytes, MPI_BYTE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(data)
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                sbuf[i] = 2.0 * u[i];
            put(sbuf, N * sizeof(double), 1);
        } else if (rank == 1) {
            get(rbuf, N * sizeof(double), 0);
            for (int i = 0; i < N; i++)
                v[i] += rbuf[i];
        }
    }
    if (rank == 1) {
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
