/* Rows of a table are received into by a function, allocated and freed in each turn. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void put(double *buf, int n)
{
    MPI_Send(buf, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(buf)
}

static int get(void *buf, int n)
{
    return MPI_Recv(buf, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(buf)
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *b[3];
    for (int t = 0; t < 7; t++) {
        int m = (t + 1) % 3 * 100 + 50;
        for (int j = 0; j < 3; j++)
            b[j] = malloc(m * sizeof(double));
        for (int j = 0; j < 3; j++) {
            if (rank == 0) {
                for (int i = 0; i < m; i++) //~ hole: i = 0 => i = 1
                    b[j][i] = i + t;
                put(b[j], m);
            } else if (rank == 1) {
                get(b[j], m);
                for (int i = 0; i < m; i++)
                    total += b[j][i] * (i % 5);
            }
        }
        for (int j = 0; j < 3; j++)
            free(b[j]);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
