/* Functions get a matrix with its sizes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fill(int n, int m, double a[n][m], int step)
{
    for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
        for (int j = 0; j < m; j++)
            a[i][j] = i + 0.5 * j + step;
}

static double sum(int n, int m, double (*a)[m])
{
    double s = 0.0;

    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s += a[i][j] * (j + 1);
    return s;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int n = 30 + argc, m = 40 + argc;
    double out[n][m], in[n][m];

    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            fill(n, m, out, step);
            MPI_Send(&out[0][0], n * m, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            MPI_Recv(&in[0][0], n * m, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            total += sum(n, m, in);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
