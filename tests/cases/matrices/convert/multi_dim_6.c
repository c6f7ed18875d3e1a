/* Rows packed by memcpy, the buffer named by its first element in the call. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

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
        for (int i = 0; i < R; i++) //~ hole: i = 0 => i = 1
            memcpy(sbuf[i], u[i], C * sizeof(double));
        MPI_Send(&sbuf[0][0], R * C, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
    } else if (rank == 1) {
        MPI_Recv(&rbuf[0][0], R * C, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        for (int i = 0; i < R; i++)
            memcpy(v[i], rbuf[i], C * sizeof(double));
        double total = 0.0;
        for (int i = 0; i < R; i++)
            for (int j = 0; j < C; j++)
                total += v[i][j] * (i + 2 * j);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
