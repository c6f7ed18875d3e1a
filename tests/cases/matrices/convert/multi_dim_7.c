/* The first of two rows is named by a star. */
#include <mpi.h>
#include <stdio.h>

#define R 32
#define C 64

static double u[R][C], v[R][C];
static double sbuf[2][R * C / 2], rbuf[2][R * C / 2];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++)
            u[i][j] = rank + 0.5 * i + 0.25 * j;
    if (rank == 0) {
        for (int k = 0; k < R * C / 2; k++) { //~ hole: k = 0 => k = 1
            (*sbuf)[k] = u[k / C][k % C];
            sbuf[1][k] = u[R / 2 + k / C][k % C];
        }
        MPI_Send(*sbuf, R * C / 2, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(*sbuf)
        MPI_Send(sbuf[1], R * C / 2, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD); //~ give(sbuf[1])
    } else if (rank == 1) {
        MPI_Recv((*rbuf), R * C / 2, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(*rbuf)
        MPI_Recv(rbuf[1], R * C / 2, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf[1])
        for (int k = 0; k < R * C / 2; k++) {
            v[k / C][k % C] = (*rbuf)[k];
            v[R / 2 + k / C][k % C] = rbuf[1][k];
        }
        double total = 0.0;
        for (int i = 0; i < R; i++)
            for (int j = 0; j < C; j++)
                total += v[i][j] * (i + 2 * j);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
