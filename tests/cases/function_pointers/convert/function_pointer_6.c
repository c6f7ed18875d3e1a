/* The pointer is set in another function, and everything stands in a loop. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

static void scaled(double *to, const double *from, int n)
{
    for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
        to[i] = 2.0 * from[i];
}

static void shifted(double *to, const double *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i] + 1.0;
}

static void (*pack)(double *, const double *, int);

static void choose(int which)
{
    pack = which ? shifted : scaled;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int step = 0; step < 2; step++) {
            choose(step);
            pack(sbuf, u, N);
            MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
        }
    } else if (rank == 1) {
        for (int step = 0; step < 2; step++) {
            MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int i = 0; i < N; i++)
                v[i] += rbuf[i];
        }
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
