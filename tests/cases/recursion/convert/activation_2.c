/* What was packed before the deeper levels run is sent after them; what was received is there while they do. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int rank;

static void send_behind(int n, int depth)
{
    double *out = malloc(n * sizeof *out);

    for (int i = 0; i < n; i++)
        out[i] = u[i] + depth;
    if (depth > 0)
        send_behind(n - 100, depth - 1);
    MPI_Ssend(out, n, MPI_DOUBLE, 1, depth, MPI_COMM_WORLD); //~ give(out)
    free(out);
}

static void take_before(int n, int depth)
{
    double *in = malloc(n * sizeof *in);

    MPI_Recv(in, n, MPI_DOUBLE, 0, depth, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    if (depth < 4)
        take_before(n + 100, depth + 1);
    for (int i = 0; i < n; i++)
        v[i] += in[i] * (depth + 1);
    free(in);
}

int main(int argc, char **argv)
{
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0)
        send_behind(N, 4);
    else if (rank == 1)
        take_before(N - 400, 0);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
