/* The length of another parameter's rows names the parameter; a variable of the file has its name, and other elements. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static char b[8];

static void rows(int n, int rank, double *b, double (*g)[sizeof *b])
{
    b = malloc(n * sizeof(double));
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            b[i] = g[i][0] + g[i][1];
        MPI_Send(b, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep
        for (int i = 0; i < n; i++)
            b[i] = g[i][0] - g[i][1];
        MPI_Send(b, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    } else if (rank == 1) {
        for (int k = 0; k < 2; k++) {
            MPI_Recv(b, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
            for (int i = 0; i < n; i++)
                g[i][k] += b[i];
        }
    }
    free(b);
}

int main(int argc, char **argv)
{
    static double g[50][8];
    double total = 0.0;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 8; j++)
            g[i][j] = rank + i * j;
    rows(50, rank, NULL, g);
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 8; j++)
            total += g[i][j] * (i + j);
    printf("%d: %.17g %d\n", rank, total, (int)b[0]);
    MPI_Finalize();
    return 0;
}
