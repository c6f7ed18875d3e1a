/* The same array receives and sends, at starts of their own. */
#include <mpi.h>
#include <stdio.h>

static double out[256], field[64];
static int lo, hi;

static void put(int peer)
{
    for (int j = lo; j <= hi; j++)
        out[j] = field[j];
    MPI_Send(&out[lo], hi - lo + 1, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD); //~ give(out)
    MPI_Recv(&out[hi], hi - lo + 1, MPI_DOUBLE, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(out)
    for (int j = lo; j <= hi; j++)
        field[j] -= out[hi - lo + j];
}

static void get(int peer)
{
    MPI_Recv(&out[lo], hi - lo + 1, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(out)
    for (int j = lo; j <= hi; j++)
        field[j] += out[j];
    for (int j = hi; j <= 2 * hi - lo; j++)
        out[j] = field[j - hi + lo] / 2;
    MPI_Send(&out[hi], hi - lo + 1, MPI_DOUBLE, peer, 5, MPI_COMM_WORLD); //~ give(out)
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    lo = argc + 1;
    hi = argc + 9;
    for (int i = 0; i < 64; i++)
        field[i] = i + 100 * rank;
    for (int step = 0; step < 3; step++) {
        if (rank == 0 && size > 1)
            put(1);
        if (rank == 1)
            get(0);
        field[lo + 2] += 0.5;
    }
    double sum = 0;
    for (int i = 0; i < 64; i++)
        sum += field[i] * (i + 1);
    printf("%d %.2f\n", rank, sum);
    MPI_Finalize();
    return 0;
}
