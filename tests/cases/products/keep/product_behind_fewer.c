/* The first loop does not run, and the second one begins where it would have ended: not so many places before it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define MAX 400

static double u[MAX];
static double sbuf[MAX], rbuf[MAX];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    int n = argc > 1 ? 5 : -12;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MAX; i++)
        u[i] = rank + 0.5 * i;
    for (int i = 0; i < 8; i++)
        sbuf[i] = i + 1;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            int p = 8;

            if (n < -16 || n > -8)
                for (int i = 0; i < 8; i++)
                    sbuf[i] = i + t;
            for (int j = 0; j < n; j++)
                sbuf[p++] = u[j] + t;
            for (int j = 0; j < 16; j++)
                sbuf[p++] = u[j] - t;
            MPI_Send(sbuf, p, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI102
        } else if (rank == 1) {
            MPI_Recv(rbuf, MAX, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < 24; i++)
                total += rbuf[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
