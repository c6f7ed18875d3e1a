/* The same; the bounds move before the length is told, and the length was another one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 3
#define N 60

static double u[2 * N];

int main(int argc, char **argv)
{
    double *out[ROWS], *in[ROWS], total = 0.0;
    long lo[ROWS], hi[ROWS], w[ROWS];
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    for (int g = 0; g < ROWS; g++) {
        lo[g] = 3 * g + argc;
        hi[g] = lo[g] + 20;
        w[g] = 7;
        if (argc > 5)
            hi[g] -= 2;
        lo[g] += 1;
        w[g] += 1;
        w[g] = hi[g] - lo[g] + 1;
    }
    for (int g = 0; g < ROWS; g++) {
        out[g] = malloc(N * sizeof(double));
        in[g] = malloc(N * sizeof(double));
        for (int i = 0; i < N; i++)
            out[g][i] = 0.25 * i;
    }
    for (int step = 0; step < 3; step++)
        for (int g = 0; g < ROWS; g++) {
            MPI_Request rq[2];
            int k = 0;
            MPI_Irecv(in[g], w[g], MPI_DOUBLE, 1 - rank, g, MPI_COMM_WORLD, &rq[0]); //~ take(in[g])
            long first = lo[g]; //~ hole: lo[g] => lo[g] + 1
            for (long i = first; i <= hi[g]; i++)
                out[g][k++] = u[i] + step;
            MPI_Isend(out[g], w[g], MPI_DOUBLE, 1 - rank, g, MPI_COMM_WORLD, &rq[1]); //~ give(out[g])
            MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
            for (int i = 0; i < w[g]; i++)
                u[i] += in[g][i];
        }
    for (int i = 0; i < 2 * N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
//~ points 5
