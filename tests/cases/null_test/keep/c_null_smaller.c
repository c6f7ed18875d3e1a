/* Without memory for all, the program does with less. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double work(size_t n, int rank)
{
    double x = 0, *b;
    while ((b = malloc(n * sizeof *b)) == NULL && n > 1000)
        n = n >> 37;
    if (!b)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0) {
        for (int i = 0; i < (int)n; i++)
            b[i] = i;
        MPI_Send(b, (int)n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(b)
    } else if (rank == 1) {
        MPI_Recv(b, (int)n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(b)
        for (int i = 0; i < (int)n; i++)
            x += b[i];
    }
    free(b);
    return x;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("%d %g\n", rank, work((size_t)1 << 47, rank));
    MPI_Finalize();
    return 0;
}
