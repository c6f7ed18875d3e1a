/* A variable of a loop's body that is set in the first turn mostly still has that value in the second, when the count is
 * another one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 400

static double u[MOST], v[MOST];

int main(int argc, char **argv)
{
    int rank;
    long n = argc > 1 ? atol(argv[1]) : 100;
    double *buf, total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (n < 10 || n > MOST - 10) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < MOST; i++)
        u[i] = rank + 0.5 * i;
    buf = malloc(MOST * sizeof *buf);
    if (!buf) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int turn = 0; turn < 3; turn++) {
        long width;
        if (turn == 0)
            width = n;
        if (rank == 0) {
            for (long i = 0; i < n; i++)
                buf[i] = u[i] + turn;
            MPI_Send(buf, width, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(buf) OPI102
        } else if (rank == 1) {
            MPI_Recv(v, MOST, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        n -= 2;
    }
    free(buf);
    for (int i = 0; i < MOST; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
