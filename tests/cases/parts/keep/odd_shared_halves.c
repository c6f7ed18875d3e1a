/* One buffer holds two messages; after the first one is sent, the second half
 * is still to be sent. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        int first = argc > 2;
        for (int i = first; i < N; i++)
            sbuf[i] = u[i] + sbuf[0];
        MPI_Send(sbuf, N / 2, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
        MPI_Send(sbuf + N / 2, N / 2, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(rbuf, N / 2, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        MPI_Recv(rbuf + N / 2, N / 2, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        int last = argc;
        for (int i = 0; i + last < N; i++)
            v[i] = rbuf[i + last];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
//~ points 4
