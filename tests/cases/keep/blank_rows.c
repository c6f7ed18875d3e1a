/* One row of an array of pointers has contents, another is new. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 2048

static double u[N + 2], ghost[N];

int main(int argc, char **argv)
{
    int rank, from, to, dims[1] = { 2 }, open[1] = { 0 };
    MPI_Comm line;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, open, 0, &line);
    MPI_Cart_shift(line, 0, 1, &from, &to);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *in[2];
    in[0] = malloc(N * sizeof **in);
    for (int i = 0; i < N; i++)
        in[0][i] = 9.0;
    in[1] = malloc(N * sizeof **in);
    for (int k = 0; k < 2; k++) {
        MPI_Send(u, N, MPI_DOUBLE, k ? 1 - rank : to, k, MPI_COMM_WORLD);
        MPI_Recv(in[k], N, MPI_DOUBLE, k ? 1 - rank : from, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
    }
    for (int i = 0; i < N; i++)
        ghost[i] = in[0][i] + in[1][i];
    free(in[0]);
    free(in[1]);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += ghost[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Comm_free(&line);
    MPI_Finalize();
    return 0;
}
