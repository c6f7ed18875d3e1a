/* The same, with casts, of whole numbers. */
#include <mpi.h>
#include <stdio.h>

#define N 24
#define M 40

static int a[N][M], b[N][M];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                for (int j = 0; j < M; j++)
                    a[i][j] = i * t + j;
            MPI_Send((void *)a[0], N * M, MPI_INT, 1, t, MPI_COMM_WORLD); //~ give(a)
        } else if (rank == 1) {
            MPI_Recv((int *)*b, N * M, MPI_INT, 0, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
            long s = 0;
            for (int i = 0; i < N; i++)
                for (int j = 0; j < M; j++)
                    s += b[i][j] * (i + 2 * j);
            printf("%d: %ld\n", t, s);
        }
    }
    MPI_Finalize();
    return 0;
}
