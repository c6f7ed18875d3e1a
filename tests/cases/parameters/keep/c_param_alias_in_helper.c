/* The helper keeps the address under another name across the send and walks on with it; the last send may give it away. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

static void put(double *b, int n, int to)
{
    double *q = b;

    MPI_Send(b, n, MPI_DOUBLE, to, 7, MPI_COMM_WORLD); //~ keep
    for (int i = 0; i < n; i++)
        *q++ = i;
    MPI_Send(b, n, MPI_DOUBLE, to, 7, MPI_COMM_WORLD); //~ give(b)
}

static void get(double *b, int n, int from)
{
    MPI_Recv(b, n, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = 2.0 * u[i];
        put(sbuf, N, 1);
    } else if (rank == 1) {
        for (int part = 0; part < 2; part++) {
            get(rbuf, N, 0);
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
