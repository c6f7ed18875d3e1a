/* The number in a typeof is no length of a row: the last row is read, which the message does not bring. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long sum(int n, int k, __typeof__(n) (*a)[k])
{
    long s = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++)
            s += a[i][j] * (i + 2 * j);
    return s;
}
int main(int argc, char **argv)
{
    int rank;
    long total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int n = 9 + argc, k = 40 + argc;
    int(*in)[k] = malloc(n * sizeof *in), (*out)[k] = malloc(n * sizeof *out);
    for (int i = 0; i < n; i++)
        for (int c = 0; c < k; c++)
            in[i][c] = out[i][c] = -1 - i;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < n; i++)
                for (int c = 0; c < k; c++)
                    out[i][c] = i + c + step;
            MPI_Send(out, (n - 1) * k, MPI_INT, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(in, (n - 1) * k, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in)
            total += sum(n, k, in);
        }
    }
    printf("%d: %ld\n", rank, total);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
