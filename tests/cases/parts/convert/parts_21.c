/* That there is memory is asserted. */
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 300
#define D 4

static double u[D * N], v[D * N];

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < D * N; i++)
        u[i] = rank + 0.5 * i;
    double *sbuf = malloc((size_t)D * n * sizeof *sbuf);
    double *rbuf = (double *)malloc(D * n * sizeof(double));
    assert(sbuf != NULL);
    assert(rbuf);
    for (int step = 0; step < 3; step++) {
        MPI_Request rq[2 * D];
        for (int d = 0; d < D; d++)
            MPI_Irecv(rbuf + d * n, n, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, &rq[d]); //~ take(rbuf + d * n)
        for (int d = 0; d < D; d++) {
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                sbuf[d * n + i] = u[d * n + i] + step * i;
            MPI_Isend(&sbuf[d * n], n, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, &rq[D + d]); //~ give(&sbuf[d * n])
        }
        MPI_Waitall(2 * D, rq, MPI_STATUSES_IGNORE);
        for (int d = 0; d < D; d++) {
            const double *from = rbuf + d * n;
            for (int i = 0; i < n; i++)
                v[d * n + i] += *from++;
        }
    }
    double total = 0.0;
    for (int i = 0; i < D * N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(rbuf);
    free(sbuf);
    MPI_Finalize();
    return 0;
}
//~ points 4
