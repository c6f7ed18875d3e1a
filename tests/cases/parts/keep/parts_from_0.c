/* Rows are counted from 1, elements from 0 on: the first one that is written is the last one of the row ahead. */
#include <mpi.h>
#include <stdio.h>
#define N 24

static double buff[4 * 24], u[N];
static int plus = 1, minus = -1;

static void clear(const int *dir)
{
    int row = *dir + 3, i;

    for (i = 1; i <= 24; ++i)
        buff[i + row * 24 - 25] = 0.0;
}

static void give(const int *dir, int peer, int t)
{
    static int row, i;

    row = *dir + 2;
    for (i = row == 1; i <= 24; ++i)
        buff[i + row * 24 - 25] = u[i % N] + t;
    MPI_Send(&buff[row * 24 - 24], 24, MPI_DOUBLE, peer, 7 + *dir, MPI_COMM_WORLD); //~ keep(buff) OPI104
}

static void take(const int *dir, int peer)
{
    int row = *dir + 3, i;

    MPI_Recv(&buff[row * 24 - 24], 24, MPI_DOUBLE, peer, 7 + *dir, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(buff)
    for (i = 1; i <= 24; ++i)
        u[i - 1] += buff[i + row * 24 - 25];
}

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            give(&plus, 1, t);
            give(&minus, 1, t);
            take(&plus, 1);
            take(&minus, 1);
        } else if (rank == 1) {
            clear(&minus);
            take(&plus, 0);
            take(&minus, 0);
            give(&plus, 0, t);
            give(&minus, 0, t);
        }
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
