/* Rows of a table are freed by a function that counts, which has another one free them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static long bytes;

static void drop(double *p)
{
    free(p);
}

static int release(double *p, int n)
{
    bytes -= n * (long)sizeof(double);
    drop(p);
    return 0;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0, *out[2], *in[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int d = 0; d < 2; d++) {
        out[d] = malloc(N * sizeof(double));
        in[d] = malloc(N * sizeof(double));
        bytes += 2 * N * sizeof(double);
    }
    for (int step = 0; step < 3; step++)
        for (int d = 0; d < 2 && rank < 2; d++) {
            for (int i = 0; i < N; i++)
                out[d][i] = u[i] + step;
            MPI_Sendrecv(out[d], N, MPI_DOUBLE, 1 - rank, d, in[d], N, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, //~ give(out[d]) //~ take(in[d])
                         MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                v[i] += (d + 1) * in[d][i];
        }
    for (int d = 0; d < 2; d++) {
        release(out[d], N);
        release(in[d], N);
    }
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g %ld\n", rank, total, bytes);
    MPI_Finalize();
    return 0;
}
