/* Two loops receive into rows of one table: the first one counts by steps into the rows of the second. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 300

static double u[N];

int main(int argc, char **argv)
{
    double *in[4], *out[4], total = 0.0;
    MPI_Request rq[8];
    int rank, n = 0, from = argc > 9 ? 1 : 2;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int d = 0; d < 4; d++) {
        in[d] = malloc(N * sizeof(double));
        out[d] = malloc(N * sizeof(double));
    }
    for (int d = 0; d < 4; d += 3) {
        for (int i = 0; i < N; i++)
            out[d][i] = u[i] + d;
        MPI_Isend(out[d], N, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, &rq[n++]); //~ give(out[d])
        MPI_Irecv(in[d], N, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, &rq[n++]); //~ keep
    }
    for (int d = 1; d < 3; d++) {
        for (int i = 0; i < N; i++)
            out[d][i] = u[i] - d;
        MPI_Isend(out[d], N, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, &rq[n++]); //~ give(out[d])
        MPI_Irecv(in[d], N, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, &rq[n++]); //~ keep
    }
    MPI_Waitall(n, rq, MPI_STATUSES_IGNORE);
    for (int d = 0; d < 4; d++)
        for (int i = 0; i < N; i++)
            total += in[d][i] * (i + d + 1);
    printf("%d: %.17g\n", rank, total);
    for (int d = 0; d < 4; d++) {
        free(in[d]);
        free(out[d]);
    }
    MPI_Finalize();
    return 0;
}
//~ silent: the rows of the second loop are others in its run
//~ points 7
