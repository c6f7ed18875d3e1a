/* The place differs from turn to turn, and each turn reads what the one before has sent, beside its own message. */
#include <mpi.h>
#include <stdio.h>

static double out[256], in[256], field[64];

static void put(int peer, int at, int step)
{
    for (int j = 0; j < 9; j++)
        out[at + j] = field[j] + step;
    MPI_Send(&out[at], 9, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD); //~ keep(out)
    for (int j = 0; j < 9; j++)
        field[j] += 0.5 * out[at + j - 9];
}

static void get(int peer, int at)
{
    MPI_Recv(&in[at], 9, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    for (int j = 0; j < 9; j++)
        field[j] += in[at + j];
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 64; i++)
        field[i] = i + 100 * rank;
    for (int step = 1; step < 5; step++) {
        if (rank == 0 && size > 1)
            put(1, argc + 9 * step, step);
        if (rank == 1)
            get(0, argc + 9 * step);
    }
    double sum = 0;
    for (int i = 0; i < 64; i++)
        sum += field[i] * (i + 1);
    printf("%d %.2f\n", rank, sum);
    MPI_Finalize();
    return 0;
}
