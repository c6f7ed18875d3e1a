/* Rows of a type that is an array: the message brings 6 of 8 rows of the matrix that is read. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef double quad[4];
static double sum(int n, int k, quad a[n][k])
{
    double s = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++)
            for (int c = 0; c < 4; c++)
                s += a[i][j][c] * (i + 2 * j + c);
    return s;
}
int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int n = 2, k = 10 + argc;
    quad *in = malloc(n * k * sizeof *in), *out = malloc(n * k * sizeof *out);
    for (int i = 0; i < n * k; i++)
        for (int c = 0; c < 4; c++)
            in[i][c] = out[i][c] = -1.0 - i;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < n * k; i++)
                for (int c = 0; c < 4; c++)
                    out[i][c] = i + c + step;
            MPI_Send(out, 6 * k, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(in, 6 * k, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in)
            total += sum(n, k, (quad(*)[k])in);
        }
    }
    printf("%d: %.17g\n", rank, total);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
