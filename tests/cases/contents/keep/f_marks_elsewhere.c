/* All processes put marks, one receives over them in each turn, and a loop ends at the first that is left. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 600

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static int a[N];
    for (int t = 0; t < 4; t++) {
        for (int i = 0; i < N; i++)
            a[i] = -1;
        if (rank == 0) {
            static int w[N];
            for (int i = 0; i < N; i++)
                w[i] = 1 + i % 7 + t;
            MPI_Send(w, N / 8 * (5 - t), MPI_INT, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(a, N, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(a) OPI210
            for (int i = 0; i < N && a[i] != -1; i++)
                sum += a[i];
        }
    }
    printf("%d %g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
