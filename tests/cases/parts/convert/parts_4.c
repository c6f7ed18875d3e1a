/* Helpers that are given a part and know nothing of the others. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400
#define D 2

static double u[D * N], v[D * N];

static void pack(double *to, const double *from, int n, double by)
{
    for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
        to[i] = from[i] * by;
}

static void unpack(double *to, const double *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] += from[i];
}

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;
    double *out, *in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < D * N; i++)
        u[i] = rank + 0.5 * i;
    out = malloc(sizeof(double) * D * n);
    in = malloc(sizeof(double) * D * n);
    if (out == NULL || in == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; step < 2; step++)
        for (int d = 0; d < D; d++) {
            pack(out + d * n, u + d * n, n, d + step + 1.5);
            MPI_Send(out + d * n, n, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD); //~ give(out + d * n)
            MPI_Recv(in + d * n, n, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in + d * n)
            unpack(v + d * n, in + d * n, n);
        }
    double total = 0.0;
    for (int i = 0; i < D * N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
//~ points 4
