/* The length of the rows is another parameter. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define R 64
#define C 20

static double u[R], v[R];
static double sbuf[R][C], rbuf[R][C];

static void put(int n, double b[R][n], int to)
{
    MPI_Send(b, R * C, MPI_DOUBLE, to, 7, MPI_COMM_WORLD); //~ give(b)
}

static void get(double b[R][C], int from)
{
    MPI_Recv(b, R * C, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
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
                    sbuf[i][j] = u[i] * (j + 1);
            put(C, sbuf, 1);
        } else if (rank == 1) {
            get(rbuf, 0);
            for (int i = 0; i < R; i++)
                for (int j = 0; j < C; j++)
                    v[i] += rbuf[i][j];
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
