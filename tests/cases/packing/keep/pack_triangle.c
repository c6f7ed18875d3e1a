/* Only a triangle of the matrix is packed. */
#include <mpi.h>
#include <stdio.h>

#define R 32
#define C 64
#define N (R * C)

static double u[N], v[N];
static double sbuf[R][C], rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int i = 0; i < R; i++)
            for (int j = i; j < C; j++)
                sbuf[i][j] = u[i * C + j];
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
//~ points 5
