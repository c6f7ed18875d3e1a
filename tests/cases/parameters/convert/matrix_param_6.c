/* The function that sends gets the matrix from another one, which also packs it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define R 64
#define C 20

static double u[R], v[R];
static float sbuf[R][C], rbuf[R][C];

static void put(float b[R][C], int to)
{
    MPI_Send(b, R * C, MPI_FLOAT, to, 7, MPI_COMM_WORLD); //~ give(b)
}

static void pack(float b[R][C], double x)
{
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++)
            b[i][j] = (float)(u[i] * x + j);
}

static void pack_and_put(float out[R][C], double x, int to)
{
    pack(out, x);
    put(out, to);
}

static void get(float b[R][C], int from)
{
    MPI_Recv(b, R * C, MPI_FLOAT, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
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
            pack_and_put(sbuf, step + 1.5, 1);
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
