/* After the block in which the name is set, the words mean another index. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 200

static double in[2][N], out[2][N];int d;

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    double *b;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 6; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[0][i] = t * 10 + i;
            MPI_Send(out[0], N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(out[0])
            for (int i = 0; i < N; i++)
                out[1][i] = t * 5 + i;
            MPI_Send(out[1], N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ give(out[1])
        } else if (rank == 1) {
            MPI_Recv(in[0], N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
            MPI_Recv(in[1], N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
            {
                int d = (t * 3) & 1;
                b = in[d];
            }
            for (int i = 0; i < N; i++)
                sum += b[i] * t;
        }
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
