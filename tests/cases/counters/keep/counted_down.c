/* What comes was counted down, by no row: there is a number below 0 of them, so more is read than comes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rows;
static double cells[4096], total;

static int left(int n)
{
    for (int r = 0; r < rows; r++)
        n -= 2;
    return n;
}

static void unpack(const double *from)
{
    for (int n = 0; n < 2000 - 2 * rows; n++)
        total += from[n] * (n % 9 + 1);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    rows = -20 - argc;
    double *in = malloc(3000 * sizeof *in);
    for (int i = 0; i < 3000; i++)
        in[i] = -1000 - i;
    for (int i = 0; i < 4096; i++)
        cells[i] = 0.25 * i;
    for (int t = 0; t < 3; t++) {
        int n = left(2000);
        if (rank == 0)
            MPI_Send(cells, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        else if (rank == 1) {
            MPI_Recv(in, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI201
            unpack(in);
        }
    }
    printf("%d: %.17g\n", rank, total);
    free(in);
    MPI_Finalize();
    return 0;
}
