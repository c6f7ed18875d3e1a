/* A library function writes a text there. */
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
    char in[4096];
    memset(ghost, 0, sizeof ghost);
    snprintf(in, sizeof in, "%0*d", 4095, 7);
    MPI_Send(u, 4096, MPI_BYTE, to, 7, line);
    MPI_Recv(in, 4096, MPI_BYTE, from, 7, line, MPI_STATUS_IGNORE); //~ keep OPI203
    for (int i = 0; i < N; i++)
        ghost[i] = in[2 * i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += ghost[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Comm_free(&line);
    MPI_Finalize();
    return 0;
}
