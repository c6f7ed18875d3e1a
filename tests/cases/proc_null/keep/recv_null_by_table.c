/* The neighbours' ranks come from a table that a function fills, with
 * MPI_PROC_NULL at the border. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];
static int nbr[2];

static void find(int rank)
{
    for (int k = 0; k < 2; k++) {
        int at = rank + 2 * k - 1;
        nbr[k] = at < 0 || at > 1 ? MPI_PROC_NULL : at;
    }
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    find(rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int i = 0; i < N; i++)
        sbuf[i] = 2.0 * u[i];
    for (int i = 0; i < N; i++)
        rbuf[i] = 7.0;
    MPI_Sendrecv(sbuf, N, MPI_DOUBLE, nbr[1], 7, rbuf, N, MPI_DOUBLE, nbr[0], 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(rbuf) OPI203
    for (int i = 0; i < N; i++)
        v[i] = rbuf[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
