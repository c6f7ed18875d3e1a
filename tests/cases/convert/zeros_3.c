/* A local matrix that begins with zeros in each turn; whole numbers, which are sent. */
#include <mpi.h>
#include <stdio.h>

#define N 24

int main(int argc, char **argv)
{
    int rank, in[N][N];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            int sum[N][N] = {{0}};
            int more = t + 1;
            for (int k = 0; k < 5; k++)
                for (int i = 0; i < N; i++)
                    for (int j = 0; j < N; j++)
                        sum[i][j] += k * i + j * more;
            MPI_Send(&sum[0][0], N * N, MPI_INT, 1, t, MPI_COMM_WORLD); //~ give(sum)
        } else if (rank == 1) {
            MPI_Recv(&in[0][0], N * N, MPI_INT, 0, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            long s = 0;
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++)
                    s += in[i][j] * (i + 3 * j);
            printf("%ld\n", s);
        }
    }
    MPI_Finalize();
    return 0;
}
