/* Text inside of text that nobody compiles declares the function, and calls it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2000

static double u[N], in[N], out[N];

static void put(double *b, int n, int to)
{
    MPI_Send(b, n, MPI_DOUBLE, to, 7, MPI_COMM_WORLD); //~ give(b)
}

static void step(int rank, int t)
{
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            out[i] = u[i] + t;
        put(out, N, 1);
    } else if (rank == 1)
        MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
}

#if 0
static void put(double *b, int n, int to);
#ifdef WHOLE
#if 0
static void whole(int n)
{
    static double all[2 * N];
    for (int i = 0; i < n; i++)
        all[i] = i;
    put(all, n, 1);
}
#endif
#endif
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
