/* The functions that send and receive, of two files. */
#include <mpi.h>

static double out[256], in[256], field[64];
static int lo, hi;

static void put(int peer)
{
    for (int j = lo; j <= hi; j++) {
        out[3 * j] = field[j];
        out[3 * j + 1] = field[j + 1];
        out[3 * j + 2] = field[j + 2];
    }
    MPI_Send(&out[3 * lo], 3 * (hi - lo + 1), MPI_DOUBLE, peer, 4, MPI_COMM_WORLD); //~ keep
}

static void get(int peer)
{
    MPI_Recv(&in[3 * lo], 3 * (hi - lo + 1), MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
    for (int j = lo; j <= hi; j++)
        field[j] += in[3 * j] + 2 * in[3 * j + 1] + 3 * in[3 * j + 2];
}
