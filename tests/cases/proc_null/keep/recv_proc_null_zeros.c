/* At an open border the zeros of static storage are unpacked. */
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
    int from = rank > 0 ? rank - 1 : MPI_PROC_NULL, to = rank == 0 ? 1 : MPI_PROC_NULL;
    MPI_Request rq[2];
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int i = 0; i < N; i++)
        sbuf[i] = 2.0 * u[i];
    MPI_Irecv(rbuf, N, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, &rq[0]); //~ replace
    MPI_Isend(sbuf, N, MPI_DOUBLE, to, 7, MPI_COMM_WORLD, &rq[1]);
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        v[i] = u[i] + rbuf[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
