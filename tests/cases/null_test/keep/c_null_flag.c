/* Whether there is memory is a number that decides later. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *b;
static int have;

static void setup(size_t n)
{
    b = malloc(n);
    if (b)
        have = 1;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x = 0;
    int n = 1000;
    setup((size_t)-1 / (argc < 9 ? 16 : 1 << 20));
    if (have) {
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            b[i] = i;
        MPI_Send(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(b)
    } else if (rank == 1) {
        MPI_Recv(b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(b)
        for (int i = 0; i < n; i++)
            x += b[i];
    }
    }
    printf("%d %g %d\n", rank, x, have);
    free(b);
    MPI_Finalize();
    return 0;
}
