/* The parameters have three dimensions. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define R 64
#define C 20

static double u[R], v[R];
static double sbuf[2][R][C], rbuf[2][R][C];

static void put(double b[2][R][C], int to)
{
    MPI_Send(b, 2 * R * C, MPI_DOUBLE, to, 7, MPI_COMM_WORLD); //~ give(b)
}

static void get(double b[2][R][C], int from)
{
    MPI_Recv(b, 2 * R * C, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < R; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < R; i++)
                for (int j = 0; j < C; j++)
                    sbuf[0][i][j] = sbuf[1][i][j] = u[i] * (j + 1);
            put(sbuf, 1);
        } else if (rank == 1) {
            get(rbuf, 0);
            for (int i = 0; i < R; i++)
                for (int j = 0; j < C; j++)
                    v[i] += rbuf[0][i][j] + rbuf[1][i][j];
        }
    }
    if (rank < 2) {
        double total = 0.0;
        for (int i = 0; i < R; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
