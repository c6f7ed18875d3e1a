/* The length of an array says how long the rows of the parameter are. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define R 16
#define C 12

static void put(double b[R][C], int to)
{
    double tmp[sizeof b[0] / sizeof b[0][0]];

    memcpy(tmp, b[1], sizeof tmp);
    b[2][0] = tmp[0] + sizeof tmp;
    MPI_Send(b, R * C, MPI_DOUBLE, to, 7, MPI_COMM_WORLD); //~ keep OPI104
}

static void get(double b[R][C], int from)
{
    MPI_Recv(b, R * C, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static double sbuf[R][C], rbuf[R][C];
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < R; i++)
                for (int j = 0; j < C; j++)
                    sbuf[i][j] = step + i * (j + 1);
            put(sbuf, 1);
        } else if (rank == 1) {
            get(rbuf, 0);
            for (int i = 0; i < R; i++)
                for (int j = 0; j < C; j++)
                    total += rbuf[i][j] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
