/* The copy is set to a block of its own, and back to the caller's, which is sent and read by the caller. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void both(double *b, int n, int rank)
{
    double *given = b;

    b = malloc(n * sizeof *b);
    for (int i = 0; i < n; i++)
        b[i] = given[i] * 2;
    for (int i = 0; i < n; i++)
        given[i] = b[i] + 1;
    free(b);
    b = given;
    if (rank == 0)
        MPI_Send(b, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep
    else if (rank == 1)
        MPI_Recv(b, n / 2, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
}

int main(int argc, char **argv)
{
    int rank, n = 64;
    double total = 0.0, *u = malloc(n * sizeof *u);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < n; i++)
        u[i] = rank + i;
    if (rank == 1)
        n = 128, u = realloc(u, n * sizeof *u);
    for (int i = 64; i < n; i++)
        u[i] = i;
    both(u, n, rank);
    for (int i = 0; i < n; i++)
        total += u[i];
    printf("%d: %.17g\n", rank, total);
    free(u);
    MPI_Finalize();
    return 0;
}
