/* The name is set in one turn and used in the next, where the index is another one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 200

static double in[2][N], out[N];

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    double *last;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 6; t++) {
        int d = t % 2;
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = t * 10 + i;
            MPI_Send(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            MPI_Recv(in[d], N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
            if (d == 0) {
                last = in[d];
            } else {
                for (int i = 0; i < N; i++)
                    sum += last[i] * (t + 1);
                for (int i = 0; i < N; i++)
                    sum -= in[d][i];
            }
        }
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
