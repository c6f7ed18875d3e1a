/* Two messages, one after the other in one buffer, of sizes that the program computes. */
#include <mpi.h>
#include <stdio.h>

static double out[256], in[256], field[64];
static int lo, hi, off[2], cnt[2];

static void put(int peer)
{
    for (int k = 0; k < 2; k++) {
        for (int j = 0; j < cnt[k]; j++)
            out[off[k] + j] = field[lo + j] * (k + 1);
        MPI_Send(&out[off[k]], cnt[k], MPI_DOUBLE, peer, k, MPI_COMM_WORLD); //~ give(out)
    }
}

static void get(int peer)
{
    for (int k = 0; k < 2; k++) {
        MPI_Recv(&in[off[k]], cnt[k], MPI_DOUBLE, peer, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
        for (int j = 0; j < cnt[k]; j++)
            field[lo + j] += in[off[k] + j];
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    lo = argc + 1;
    hi = argc + 9;
    cnt[0] = argc + 9;
    cnt[1] = argc + 14;
    off[0] = argc;
    off[1] = off[0] + cnt[0];
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
