/* A function that touches no message changes how much later turns of the loop around it write. */
#include <mpi.h>
#include <stdio.h>

static double out[64], u[64];
static int n = 64;

static void narrow(int turn)
{
    n = 64 - 8 * turn;
}

int main(int argc, char **argv)
{
    int rank, peer;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    for (int turn = 1; turn < 3; turn++) {
        for (int i = 0; i < n; i++)
            out[i] = turn + rank + i;
        MPI_Send(out, 64, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); //~ keep(out)
        MPI_Recv(u, 64, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        narrow(turn);
    }
    printf("%d %g %g\n", rank, u[3], u[63]);
    MPI_Finalize();
    return 0;
}
