/* A receive that may be cancelled: the buffer then still holds the old bytes. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request rq;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 1) {
        int gone;
        MPI_Status st;
        for (int i = 0; i < N; i++)
            rbuf[i] = -u[i];
        MPI_Irecv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &rq); //~ keep OPI206
        MPI_Cancel(&rq);
        MPI_Wait(&rq, &st);
        MPI_Test_cancelled(&st, &gone);
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
