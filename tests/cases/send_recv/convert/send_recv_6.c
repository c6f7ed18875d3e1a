/* Results of the calls are checked; communicator, count and tag are variables. */
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
    MPI_Comm comm = MPI_COMM_WORLD;
    const int count = N, tag = 3;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
            sbuf[i] = 2.0 * u[i];
        if (MPI_Send(sbuf, count, MPI_DOUBLE, 1, tag, comm) != MPI_SUCCESS) //~ give(sbuf)
            MPI_Abort(comm, 1);
    } else if (rank == 1) {
        if (MPI_Recv(rbuf, count, MPI_DOUBLE, 0, tag, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS) //~ take(rbuf)
            MPI_Abort(comm, 1);
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
