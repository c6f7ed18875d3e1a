/* Both functions are called at two places each; the buffers are allocated, and given as parameters. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double out[256], in[256], field[64];
static int lo, hi;

static void pack(double *b, int at, int n, double by)
{
    int j = 0;
    while (j < n) {
        b[at + j] = field[j] * by;
        j++;
    }
}

static void unpack(double b[], int at, int n)
{
    for (int j = at; j < at + n; j++)
        field[j - at] += b[j];
}

static void send_both(double *b, int peer)
{
    int n = hi - lo;
    pack(b, lo, n, 2);
    MPI_Send(b + lo, n, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD); //~ give(b)
    pack(b, hi + 40, 2 * n, 3.5);
    MPI_Send(&b[hi + 40], 2 * n, MPI_DOUBLE, peer, 5, MPI_COMM_WORLD); //~ give(b)
}

static void put(int peer)
{
    double *b = malloc(256 * sizeof *b);
    send_both(b, peer);
    free(b);
}

static void get(int peer)
{
    int n = hi - lo;
    MPI_Recv(&in[lo], n, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    unpack(in, lo, n);
    MPI_Recv(&in[hi + 40], 2 * n, MPI_DOUBLE, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    unpack(in, hi + 40, 2 * n);
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
