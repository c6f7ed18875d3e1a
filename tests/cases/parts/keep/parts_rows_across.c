/* The other part is read by the name of the block. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 3
#define N 60

static double u[2 * N];

int main(int argc, char **argv)
{
    double *out[ROWS], *in[ROWS];
    int n[ROWS], rank, extra = argc > 5;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    for (int g = 0; g < ROWS; g++)
        n[g] = N - 2 * g + extra;
    for (int g = 0; g < ROWS; g++) {
        out[g] = malloc(2 * sizeof(double) * n[g]);
        in[g] = out[g] + n[g];
    }
    for (int step = 0; step < 3; step++)
        for (int g = 0; g < ROWS; g++) {
            MPI_Request rq[2];
            MPI_Irecv(in[g], n[g], MPI_DOUBLE, 1 - rank, g, MPI_COMM_WORLD, &rq[0]); //~ keep
            for (int i = 0; i < n[g]; i++)
                out[g][i] = u[i] + step;
            MPI_Isend(out[g], n[g], MPI_DOUBLE, 1 - rank, g, MPI_COMM_WORLD, &rq[1]); //~ keep
            MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
            for (int i = 0; i < n[g]; i++)
                u[i] += in[g][i];
            u[5] += out[g][n[g] + 3];
        }
    for (int i = 0; i < 2 * N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    for (int g = 0; g < ROWS; g++)
        free(out[g]);
    MPI_Finalize();
    return 0;
}
//~ points 4
