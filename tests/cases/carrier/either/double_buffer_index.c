/* Two rows are used in turn; the send of the turn before is waited for. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[2][N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request rq[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 5; step++) {
        if (rank == 0) {
            MPI_Wait(&rq[step % 2], MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                sbuf[step % 2][i] = u[i] + step;
            MPI_Isend(sbuf[step % 2], N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, &rq[step % 2]);
        } else if (rank == 1) {
            MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                v[i] += rbuf[i];
        }
    }
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
    if (rank == 1) {
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
