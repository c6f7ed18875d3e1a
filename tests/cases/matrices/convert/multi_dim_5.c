/* Rows walked by a pointer to a row. */
#include <mpi.h>
#include <stdio.h>

#define R 32
#define C 64

static double u[R][C], v[R][C];
static double sbuf[R][C], rbuf[R][C];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++)
            u[i][j] = rank + 0.5 * i + 0.25 * j;
    if (rank == 0) {
        double (*row)[C] = sbuf;
        for (int i = 0; i < R; i++, row++)
            for (int j = 0; j < C; j++)
                (*row)[j] = u[i][j];
        MPI_Send(sbuf, R * C, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
    } else if (rank == 1) {
        MPI_Recv(rbuf, R * C, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        double (*row)[C] = rbuf;
        for (int i = 0; i < R; i++, row++)
            for (int j = 0; j < C; j++)
                v[i][j] = (*row)[j];
        double total = 0.0;
        for (int i = 0; i < R; i++)
            for (int j = 0; j < C; j++)
                total += v[i][j] * (i + 2 * j);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
