/* Which of two buffers goes is decided by whether there was memory. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double other[1000];

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x = 0, *b = malloc((size_t)-1 / (argc < 9 ? 16 : 1 << 20));
    double *p = b ? b : other;
    int n = 1000;
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            p[i] = i;
        MPI_Send(p, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep
    } else if (rank == 1) {
        MPI_Recv(p, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        for (int i = 0; i < n; i++)
            x += p[i];
    }
    printf("%d %g\n", rank, x);
    free(b);
    MPI_Finalize();
    return 0;
}
