/* The step comes from a conditional expression. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 512

static double u[N], v[N];
static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int up = 0; up < 2; up++) {
        int step = up ? 1 : -1;
        for (int i = 0; i < N; i++)
            sbuf[i] = 2.0 * u[i] + up;
        MPI_Sendrecv(sbuf, N, MPI_DOUBLE, (rank + step + size) % size, 7, rbuf, N, MPI_DOUBLE, (rank - step + size) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(sbuf) take(rbuf)
        for (int i = 0; i < N; i++)
            v[i] += rbuf[i];
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
