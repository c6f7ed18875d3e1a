/* A function hands the address on to another one, and has a short name for it. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static double out[256], in[256], field[64];
static int lo, hi;

static void row(double *to, int n, double by)
{
    for (int j = 0; j < n; j++)
        to[j] = field[j] * by;
}

static void pack(double *b, int n)
{
    for (int r = 0; r < 3; r++)
        row(b + r * n, n, r + 1);
}

static void unpack(const double *b, int n)
{
    const double *second = b + n;
    double *copy = memcpy(field + 30, b, n * sizeof *b);
    for (int j = 0; j < 2 * n; j++)
        field[j] += second[j];
    copy[0] += 1;
}

static void put(int peer)
{
    pack(&out[3 * lo], hi - lo);
    MPI_Send(&out[3 * lo], 3 * (hi - lo), MPI_DOUBLE, peer, 4, MPI_COMM_WORLD); //~ give(out)
}

static void get(int peer)
{
    MPI_Recv(&in[3 * lo], 3 * (hi - lo), MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    unpack(&in[3 * lo], hi - lo);
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
