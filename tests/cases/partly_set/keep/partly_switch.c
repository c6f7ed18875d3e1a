/* Two ways of a switch set the number of elements, each to something else, and a third does not. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 400

static double u[MOST], v[MOST];

int main(int argc, char **argv)
{
    int rank;
    long width, n = argc > 1 ? atol(argv[1]) : 100;
    double *buf, total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (n < 10 || n > MOST - 10) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < MOST; i++)
        u[i] = rank + 0.5 * i;
    buf = malloc(MOST * sizeof *buf);
    if (!buf) MPI_Abort(MPI_COMM_WORLD, 1);
    switch (argc) {
    case 1:
    case 2:
        width = n;
        break;
    case 5:
        width = n + 3;
        break;
    default:
        break;
    }
    for (int turn = 0; turn < 3; turn++) {
        if (rank == 0) {
            for (long i = 0; i < n; i++)
                buf[i] = u[i] + turn;
            MPI_Send(buf, width, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(buf) OPI102
        } else if (rank == 1) {
            MPI_Recv(v, MOST, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    free(buf);
    for (int i = 0; i < MOST; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
