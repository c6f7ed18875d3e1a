/* Packed through an append counter, which is then the count of the message;
 * some elements are left out. */
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
        int n = 0;
        for (int i = 0; i < N; i++)
            if (u[i] > 100.25)
                sbuf[n++] = u[i];
        MPI_Send(sbuf, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
    } else if (rank == 1) {
        MPI_Status st;
        int n;
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &st); //~ take(rbuf) no-stale-count
        MPI_Get_count(&st, MPI_DOUBLE, &n);
        for (int i = 0; i < n; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
