/* Functions are called for one row after the other. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define R 4
#define MOST 600

static double out[R][MOST], in[R][MOST], u[R * MOST];
static MPI_Request rq[2 * R];

static void post(int d, int n)
{
    MPI_Irecv(in[d], n, MPI_DOUBLE, MPI_ANY_SOURCE, d, MPI_COMM_WORLD, &rq[d]); //~ take(in)
}

static void give(int d, int n, int peer)
{
    for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
        out[d][i] = u[d * n + i];
    MPI_Send(out[d], n, MPI_DOUBLE, peer, d, MPI_COMM_WORLD); //~ give(out)
}

static void take(int d, int n)
{
    MPI_Wait(&rq[d], MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        u[d * n + i] += in[d][i];
}

int main(int argc, char **argv)
{
    int rank, n;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n = atoi(argc > 1 ? argv[1] : "500");
    for (int i = 0; i < R * MOST; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++) {
        post(0, n);
        post(1, n);
        give(0, n, 1 - rank);
        give(1, n, 1 - rank);
        take(0, n);
        take(1, n);
        post(2, n);
        post(3, n);
        give(2, n, 1 - rank);
        give(3, n, 1 - rank);
        take(3, n);
        take(2, n);
    }
    double total = 0.0;
    for (int i = 0; i < R * MOST; i++)
        total += u[i] * (i % 5 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
