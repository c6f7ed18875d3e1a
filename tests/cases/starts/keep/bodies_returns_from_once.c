/* The functions return from inside a `do` of one turn, which a `break` would leave alone. */
#include <mpi.h>
#include <stdio.h>

static double out[256], in[256], field[64];
static int lo, hi;

static void pack(double *b, int at, int n)
{
    do {
        if (field[0] > 200)
            return;
    } while (0);
    for (int j = 0; j < n; j++)
        b[at + j] = field[j] + 2 * field[j + 1];
}

static void unpack(const double *b, int at, int n)
{
    do {
        if (field[0] > 102)
            return;
        field[0] += 1;
    } while (0);
    for (int j = 0; j < n; j++)
        field[j] += b[at + j];
}

static void put(int peer)
{
    pack(out, 3 * lo, 3 * (hi - lo));
    MPI_Send(&out[3 * lo], 3 * (hi - lo), MPI_DOUBLE, peer, 4, MPI_COMM_WORLD); //~ keep
}

static void get(int peer)
{
    MPI_Recv(&in[3 * lo], 3 * (hi - lo), MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
    unpack(in, 3 * lo, 3 * (hi - lo));
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
