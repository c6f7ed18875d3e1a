/* Arrays of pointers from malloc. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

#define D 4

static double u[N], v[N];
static double *sbuf[D], *rbuf[D];
static int nbr[D];

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
    for (int d = 0; d < D; d++) {
        sbuf[d] = malloc(N * sizeof(double));
        rbuf[d] = malloc(N * sizeof(double));
    }
    for (int d = 0; d < D; d++)
        MPI_Irecv(rbuf[d], N, MPI_DOUBLE, nbr[d], d, MPI_COMM_WORLD, &rq[d]); //~ take(rbuf[d])
    for (int d = 0; d < D; d++) {
        for (int i = 0; i < N; i++)
            sbuf[d][i] = u[i] * (d + 1);
        MPI_Isend(sbuf[d], N, MPI_DOUBLE, nbr[d], d, MPI_COMM_WORLD, &rq[D + d]); //~ give(sbuf[d])
    }
    MPI_Waitall(2 * D, rq, MPI_STATUSES_IGNORE);
    for (int d = 0; d < D; d++)
        for (int i = 0; i < N; i++)
            v[i] += rbuf[d][i] * (d + 1);
    for (int d = 0; d < D; d++) {
        free(sbuf[d]);
        free(rbuf[d]);
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
