/* Each call has its buffers, which are gone before it calls itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int rank;

static void halve(int n, int depth)
{
    double *out = malloc(n * sizeof *out);
    double *in = malloc(n * sizeof *in);

    for (int i = 0; i < n; i++)
        out[i] = u[i] + depth;
    if (rank == 0) {
        MPI_Send(out, n, MPI_DOUBLE, 1, depth, MPI_COMM_WORLD); //~ give(out)
        MPI_Recv(in, n, MPI_DOUBLE, 1, depth, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    } else {
        MPI_Recv(in, n, MPI_DOUBLE, 0, depth, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
        MPI_Send(out, n, MPI_DOUBLE, 0, depth, MPI_COMM_WORLD); //~ give(out)
    }
    for (int i = 0; i < n; i++)
        v[i] += in[i] * (depth + 1);
    free(out);
    free(in);
    if (depth > 0)
        halve(n / 2, depth - 1);
}

int main(int argc, char **argv)
{
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank < 2)
        halve(N, 4);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
