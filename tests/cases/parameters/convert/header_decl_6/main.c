/* Arrays of buffers in a header, packed in another file. */
#include <mpi.h>
#include <stdio.h>
#include "buffers.h"

static double u[N], v[N];
double sbuf[D][N], rbuf[D][N];
int nbr[D];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request rq[2 * D];
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int d = 0; d < D; d++)
        nbr[d] = 1 - rank;
    for (int d = 0; d < D; d++)
        MPI_Irecv(rbuf[d], N, MPI_DOUBLE, nbr[d], d, MPI_COMM_WORLD, &rq[d]); //~ take(rbuf[d])
    for (int d = 0; d < D; d++) {
        pack(d, u);
        MPI_Isend(sbuf[d], N, MPI_DOUBLE, nbr[d], d, MPI_COMM_WORLD, &rq[D + d]); //~ give(sbuf[d])
    }
    MPI_Waitall(2 * D, rq, MPI_STATUSES_IGNORE);
    for (int d = 0; d < D; d++)
        unpack(d, v);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
