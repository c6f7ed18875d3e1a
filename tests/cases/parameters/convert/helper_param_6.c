/* Rows of arrays of buffers are passed to a helper. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[2][N], rbuf[2][N];

static void start(double *s, double *r, int peer, int tag, MPI_Request *rq)
{
    MPI_Irecv(r, N, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, &rq[0]); //~ take(r)
    MPI_Isend(s, N, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, &rq[1]); //~ give(s)
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank < 2) {
        MPI_Request rq[4];
        for (int d = 0; d < 2; d++) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                sbuf[d][i] = u[i] + d;
            start(sbuf[d], rbuf[d], 1 - rank, d, &rq[2 * d]);
        }
        MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);
        for (int d = 0; d < 2; d++) {
            for (int i = 0; i < N; i++)
                v[i] += rbuf[d][i];
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
