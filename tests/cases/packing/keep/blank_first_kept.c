/* Memory is allocated in each turn, but the first one's is kept, and has contents before the receive. */
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
    double *in = NULL;
    for (int k = 0; k < 3; k++) {
        if (k > 0)
            for (int i = 0; i < N; i++)
                in[i] = k;
        double *t = malloc(N * sizeof *t);
        if (k == 0)
            in = t;
    }
    MPI_Send(u, N, MPI_DOUBLE, to, 7, line);
    MPI_Recv(in, N, MPI_DOUBLE, from, 7, line, MPI_STATUS_IGNORE); //~ keep
    for (int i = 0; i < N; i++)
        ghost[i] = in[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += ghost[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Comm_free(&line);
    MPI_Finalize();
    return 0;
}
