/* A stencil: border rows are sent from the field, ghost rows received into it. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

#define R 6

static double m[R + 2][N], next[R + 2][N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    for (int i = 1; i <= R; i++)
        for (int j = 0; j < N; j++)
            m[i][j] = rank + i + 0.5 * j;
    for (int step = 0; step < 3; step++) {
        int mine = rank == 0 ? R : 1, ghost = rank == 0 ? R + 1 : 0;
        MPI_Sendrecv(m[mine], N, MPI_DOUBLE, peer, 7, m[ghost], N, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        for (int i = 1; i <= R; i++)
            for (int j = 1; j < N - 1; j++)
                next[i][j] = 0.25 * (m[i - 1][j] + m[i + 1][j] + m[i][j - 1] + m[i][j + 1]);
        for (int i = 1; i <= R; i++)
            for (int j = 1; j < N - 1; j++)
                m[i][j] = next[i][j];
    }
    double total = 0.0;
    for (int i = 1; i <= R; i++)
        for (int j = 0; j < N; j++)
            total += m[i][j] * (i + j);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
