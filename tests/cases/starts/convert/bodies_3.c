/* The arguments have the names of other parameters, and the caller has variables by the names of the body's. */
#include <mpi.h>
#include <stdio.h>

static double out[256], in[256], field[64];
static int lo, hi;

static void pack(double *b, int at, int n)
{
    double j = at;
    for (int i = 0; i < n; i++)
        b[at + i] = field[i] + j * n;
    j = 0;
    n = 0;
}

static void unpack(const double *b, int n)
{
    for (int j = 0; j < n; j++)
        field[j] += b[j];
}

static void put(int peer)
{
    int n = 3 * lo, at = 3 * (hi - lo), i = 7, j = 8;
    pack(out, n, at);
    MPI_Send(&out[n], at, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD); //~ give(out)
    field[i] += j;
}

static void get(int peer)
{
    double b = 2;
    int n = 3 * (hi - lo);
    MPI_Recv(&in[3 * lo], n, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    unpack(&in[3 * lo], n);
    field[0] += b;
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
