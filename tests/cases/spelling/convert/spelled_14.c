/* A parameter has another name inside its function. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

static double sbuf[N], rbuf[N];

static void exchange(double *s, double *r, int peer)
{
    double *const from = s;
    double *to = r;

    MPI_Sendrecv(from, N, MPI_DOUBLE, peer, 0, to, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(from) take(to)
}

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
            sbuf[i] = rank + t + 0.5 * i;
        exchange(sbuf, rbuf, 1 - rank);
        for (int i = 0; i < N; i++)
            sum += (t + 1) * rbuf[i];
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
