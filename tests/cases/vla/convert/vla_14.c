/* Functions get a matrix with its sizes, and send or receive it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(int n, int m, double a[n][m], int to)
{
    MPI_Send(a, n * m, MPI_DOUBLE, to, 7, MPI_COMM_WORLD); //~ give(a)
}

static double get(int n, int m, double b[n][m], int from);

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
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                for (int j = 0; j < m; j++)
                    out[i][j] = i + 0.5 * j + step;
            put(n, m, out, 1);
        } else if (rank == 1) {
            total += get(n, m, in, 0);
            total += 1.0;
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}

static double get(int n, int m, double b[n][m], int from)
{
    double s = 0.0;

    MPI_Recv(&b[0][0], n * m, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s += b[i][j] * (j + 1);
    return s;
}
