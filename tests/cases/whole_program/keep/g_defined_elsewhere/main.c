//~ analyse main.c
/* Only main.c is analysed; the buffer is defined in a file that is not given
 * and that reads it. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

extern double sbuf[N];
double total_sent(void);

static double u[N], v[N];
static double rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = 2.0 * u[i];
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep OPI112
        printf("%.17g\n", total_sent());
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
