/* The size of a part is a difference of two numbers; it is packed by a counter in two loops. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 40
#define RADIUS 2

static double u[N][N];

int main(int argc, char **argv)
{
    int rank, istart, iend, width;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    istart = argc > 5 ? 4 : 0;
    iend = argc > 6 ? 20 : N - 1;
    width = iend - istart + 1;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            u[j][i] = rank + 0.5 * i + j;
    double *out = malloc(2 * sizeof(double) * RADIUS * width);
    if (!out) {
        printf("no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    double *in = out + RADIUS * width;
    for (int step = 0; step < 3; step++) {
        MPI_Request rq[2];
        MPI_Irecv(in, RADIUS * width, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ take(in)
        for (int kk = 0, i = istart; i <= iend; i++)
            for (int j = 0; j < RADIUS; j++)
                out[kk++] = u[j][i] + step;
        MPI_Isend(out, RADIUS * width, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ give(out)
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int kk = 0, j = 0; j < RADIUS; j++)
            for (int i = istart; i <= iend; i++)
                u[j][i] += in[kk++];
    }
    double total = 0.0;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            total += u[j][i] * (i + j + 1);
    printf("%d: %.17g\n", rank, total);
    free(out);
    MPI_Finalize();
    return 0;
}
//~ points 4
