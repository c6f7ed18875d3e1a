/* Rows of their own size, in a table of pointers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double *out[3], *in[3];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int d = 0; d < 3; d++) {
        out[d] = calloc(N / 4 * (d + 1), sizeof(double));
        in[d] = calloc(N / 4 * (d + 1), sizeof(double));
    }
    for (int d = 0; d < 3; d++) {
        int n = N / 4 * (d + 1);
        v[d] = in[d][0];
        for (int i = d; i < n; i += 5)
            out[d][i] = u[i] + d;
        MPI_Request rq[2];
        MPI_Irecv(in[d], n, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, &rq[0]); //~ take(in[d])
        MPI_Isend(out[d], n, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, &rq[1]); //~ give(out[d])
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            v[i] += in[d][i];
    }
    for (int d = 0; d < 3; d++) {
        free(out[d]);
        free(in[d]);
    }
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
