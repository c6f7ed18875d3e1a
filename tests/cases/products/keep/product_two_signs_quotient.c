/* The step is negative, and so is the number of steps: nothing is written. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define MAX 400

static double u[MAX];
static double sbuf[MAX], rbuf[MAX];

int main(int argc, char **argv)
{
    int rank, n = argc > 1 ? atoi(argv[1]) : 12;
    double total = 0.0;
    int step = argc > 2 ? 4 : -3;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (n < 1 || n > MAX)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < MAX; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            int whole = n / step;
            for (int k = 0; k < whole; k++)
                for (int i = 0; i < step; i++)
                    sbuf[k * step + i] = u[i + k] + t;
            for (int i = whole * step; i < n; i++)
                sbuf[i] = t;
            MPI_Send(sbuf, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI102
        } else if (rank == 1) {
            MPI_Recv(rbuf, MAX, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < n; i++)
                total += rbuf[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
