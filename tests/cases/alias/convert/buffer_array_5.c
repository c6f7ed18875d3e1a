/* While loops, all packed before anything is sent, requests apart. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

#define D 4

static double u[N], v[N];
static double sbuf[D][N], rbuf[D][N];
static int nbr[D];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request rr[D], rs[D];
    int d;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int d = 0; d < D; d++)
        nbr[d] = 1 - rank;
    d = 0;
    while (d < D) {
        MPI_Irecv(rbuf[d], N, MPI_DOUBLE, nbr[d], d, MPI_COMM_WORLD, &rr[d]); //~ take(rbuf[d])
        d++;
    }
    for (d = 0; d < D; d++)
        for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
            sbuf[d][i] = u[i] * (d + 1);
    for (d = 0; d < D; d++)
        MPI_Isend(sbuf[d], N, MPI_DOUBLE, nbr[d], d, MPI_COMM_WORLD, &rs[d]); //~ give(sbuf[d])
    MPI_Waitall(D, rr, MPI_STATUSES_IGNORE);
    MPI_Waitall(D, rs, MPI_STATUSES_IGNORE);
    for (d = 0; d < D; d++)
        for (int i = 0; i < N; i++)
            v[i] += rbuf[d][i] * (d + 1);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
