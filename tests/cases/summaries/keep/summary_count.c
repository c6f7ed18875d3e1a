/* A function that touches no message changes how many are sent: what it does to numbers has to be known. */
#include <mpi.h>
#include <stdio.h>

static double out[4096], u[4096];
static int n = 64;

static void widen(int by)
{
    n += by;
}

int main(int argc, char **argv)
{
    int rank, peer;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    for (int i = 0; i < n; i++) out[i] = rank + i;
    widen(64);
    MPI_Send(out, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); //~ keep(out)
    MPI_Recv(u, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%d %g %g\n", rank, u[3], u[n - 1]);
    MPI_Finalize();
    return 0;
}
