/* A function returns from within its endless loop, after a receive and before
 * it is unpacked. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

static int talk(int rank)
{
    for (int step = 0;; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                sbuf[i] = u[i] + step;
            MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
            if (step == 3)
                return step;
        } else {
            MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (step == 3)
                return -step;
            for (int i = 0; i < N; i++)
                v[i] += rbuf[i];
        }
    }
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    printf("%d\n", talk(rank));
    if (rank == 1) {
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
