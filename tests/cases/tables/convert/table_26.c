/* Two loops exchange rows of two tables, the first two rows and the last two, and wait for all. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 300

static double u[N];

int main(int argc, char **argv)
{
    double *in[4], *out[4], total = 0.0;
    MPI_Request rq[8];
    int rank, n = 0, half = 2;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int d = 0; d < 4; d++) {
        in[d] = malloc(N * sizeof(double));
        out[d] = malloc(N * sizeof(double));
    }
    for (int d = 0; d < half; d++) {
        int first = 0; //~ hole: 0 => 1
        for (int i = first; i < N; i++)
            out[d][i] = u[i] + d;
        MPI_Isend(out[d], N, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, &rq[n++]); //~ give(out[d])
        MPI_Irecv(in[d], N, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, &rq[n++]); //~ take(in[d])
    }
    for (int d = half; d < 4; d++) {
        for (int i = 0; i < N; i++)
            out[d][i] = u[i] - d;
        MPI_Isend(out[d], N, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, &rq[n++]); //~ give(out[d])
        MPI_Irecv(in[d], N, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, &rq[n++]); //~ take(in[d])
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
//~ points 7
