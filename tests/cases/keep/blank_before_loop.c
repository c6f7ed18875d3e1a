/* The memory is allocated before the loop: a turn whose source is MPI_PROC_NULL reads what the turn before received. */
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
    double *in = malloc(N * sizeof *in);
    for (int step = 0; step < 2; step++) {
        int source = step == 0 ? 1 - rank : from;
        MPI_Send(u, N, MPI_DOUBLE, step == 0 ? 1 - rank : to, 7, MPI_COMM_WORLD);
        MPI_Recv(in, N, MPI_DOUBLE, source, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI203
        for (int i = 0; i < N; i++)
            ghost[i] = in[i];
    }
    free(in);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += ghost[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Comm_free(&line);
    MPI_Finalize();
    return 0;
}
