/* Two messages are pending together, one after the other in one buffer. */
#include <mpi.h>
#include <stdio.h>

static double out[256], in[256], field[64];
static int lo, hi;

static void put(int peer)
{
    MPI_Request q[2];
    int n = 3 * (hi - lo + 1);
    for (int j = 0; j < n; j++)
        out[lo + j] = field[j];
    MPI_Isend(&out[lo], n, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, &q[0]); //~ give(out)
    for (int j = 0; j < 12; j++)
        out[lo + n + j] = field[j] / 2;
    MPI_Isend(&out[lo + n], 12, MPI_DOUBLE, peer, 5, MPI_COMM_WORLD, &q[1]); //~ give(out)
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}

static void get(int peer)
{
    MPI_Request q[2];
    int n = 3 * (hi - lo + 1);
    MPI_Irecv(&in[lo], n, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, &q[0]); //~ take(in)
    MPI_Irecv(&in[lo + n], 12, MPI_DOUBLE, peer, 5, MPI_COMM_WORLD, &q[1]); //~ take(in)
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    for (int j = 0; j < n; j++)
        field[j] += in[lo + j];
    for (int j = 0; j < 12; j++)
        field[j] += in[lo + n + j];
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
