/* A matrix of variable length, received whole and copied from; its rows are of variable length, too. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double sum(int n, int m, double t[n][m])
{
    double total = 0.0;

    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            total += t[i][j] * (i + 2 * j);
    return total;
}

int main(int argc, char **argv)
{
    int rank, n, m;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n = 30 + argc;
    m = 20 + argc;
    double u[n][m], t[n][m];

    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            u[i][j] = rank + 0.5 * i + j;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            MPI_Send(u, n * m, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(&t[0][0], n * m, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(t)
            memcpy(&u[0][0], &t[0][0], n * m * sizeof(double));
        }
        total += sum(n, m, u);
        u[1][1] += step;
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
