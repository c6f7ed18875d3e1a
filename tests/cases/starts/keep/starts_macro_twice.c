/* The macro names its argument twice: one of the two is no number of an element. */
#include <mpi.h>
#include <stdio.h>
#define AT(a, i) (seen += (i), &(a)[(i)])[0]

static double out[256], in[256], field[64];
static int lo, hi;

static int seen;

static void put(int peer)
{
    for (int j = 3 * lo; j < 3 * hi; j++)
        AT(out, j) = field[j - 3 * lo] + 1;
    field[2] += seen;
    MPI_Send(&out[3 * lo], 3 * (hi - lo), MPI_DOUBLE, peer, 4, MPI_COMM_WORLD); //~ keep
}

static void get(int peer)
{
    MPI_Recv(&in[3 * lo], 3 * (hi - lo), MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
    for (int j = 3 * lo; j < 3 * hi; j++)
        field[1] += AT(in, j) * j;
    field[2] += seen;
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
