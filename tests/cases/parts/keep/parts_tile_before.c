/* The tiles of the second half begin in the first. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define N 400

static double u[2 * N];

int main(int argc, char **argv)
{
    int rank, n = argc > 1 ? atoi(argv[1]) : 10, size = argc > 2 ? atoi(argv[2]) : 4;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (n < 2 || n > 19)
        return 1;
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    double *in = calloc(2 * n * n, sizeof(double));
    double *out = in + n * n;
    for (int step = 0; step < 3; step++) {
        MPI_Request rq[2];
        MPI_Irecv(in, n * n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ keep
        if (size < n) {
            for (int a = 0; a < n; a += size)
                for (int b = 0; b < n; b += size)
                    for (int i = a; i < MIN(n, a + size); i++)
                        for (int j = b; j < MIN(n, b + size); j++)
                            out[j + n * i] = u[i * n + j] + step;
        } else
            for (int i = 0; i < n * n; i++)
                out[i] = u[i] + step;
        MPI_Isend(out, n * n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ keep
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int a = 0; a < n; a += size)
            for (int i = a; i < MIN(n, a + size); i++)
                for (int j = 0; j < n; j++)
                    u[i * n + j] += out[i * n + j - n];
    }
    double total = 0.0;
    for (int i = 0; i < 2 * N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(in);
    MPI_Finalize();
    return 0;
}
//~ points 4
