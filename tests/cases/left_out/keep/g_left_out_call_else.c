/* The arm of `#if 0` that is compiled calls the function with no buffer of its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2000

static double u[N], in[N], out[N];

static void put(double *b, int n, int to)
{
    MPI_Send(b, n, MPI_DOUBLE, to, 7, MPI_COMM_WORLD); //~ keep(b) OPI104
}

static void whole(double *b, int n);

static void step(int rank, int t)
{
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            out[i] = u[i] + t;
        put(out, N, 1);
        if (t > 5)
            whole(u, N - 1);
    } else if (rank == 1)
        MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
}

#if 0
static void whole(int n)
{
    (void)n;
}
#else
static void whole(double *b, int n)
{
    put(b + 1, n, 1);
}
#endif

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 2 * i;
    for (int t = 0; t < 3; t++) {
        step(rank, t);
        if (rank == 1)
            for (int i = 0; i < N; i++)
                total += in[i] * (i + 1);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
