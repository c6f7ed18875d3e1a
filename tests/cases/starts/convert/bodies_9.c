/* What reads counts, and returns another number: ``return a, b;``. */
#include <mpi.h>
#include <stdio.h>

static double out[256], in[256], field[64];
static int lo, hi, seen;

static void pack(double *b, int at, int n)
{
    for (int j = 0; j < n; j++)
        b[at + j] = field[j] + 2 * field[j + 1];
}

static int unpack(const double *b, int at, int n)
{
    if (n > 99)
        return -1;
    for (int j = 0; j < n; j++)
        field[j] += b[at + j];
    return seen++, 5;
}

static void put(int peer)
{
    pack(out, 3 * lo, 3 * (hi - lo));
    MPI_Send(&out[3 * lo], 3 * (hi - lo), MPI_DOUBLE, peer, 4, MPI_COMM_WORLD); //~ give(out)
}

static void get(int peer)
{
    MPI_Recv(&in[3 * lo], 3 * (hi - lo), MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    int got = unpack(in, 3 * lo, 3 * (hi - lo));
    seen += 10 * got;
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
    printf("%d %.2f %d\n", rank, sum, seen);
    MPI_Finalize();
    return 0;
}
