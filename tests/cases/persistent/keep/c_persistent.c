/* A persistent receive holds the address as well; it is started after the
 * plain receive. */
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
    MPI_Request rq;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    MPI_Recv_init(rbuf, N, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD, &rq);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = 2.0 * u[i];
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        MPI_Send(u, N, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI206
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i];
        MPI_Start(&rq);
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] += 3.0 * rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Request_free(&rq);
    MPI_Finalize();
    return 0;
}
//~ points 8
