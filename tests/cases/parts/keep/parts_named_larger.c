/* The group is the larger one of two numbers: what is received may reach into the part after it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define N 50

static double u[4 * N];

int main(int argc, char **argv)
{
    int rank, size, grp = argc > 1 ? atoi(argv[1])  : N, j, jj, jjsize;
    double *inbuf, *outbuf, total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (grp < 1)
        return 1;
    inbuf = malloc((2 * grp) * sizeof(double));
    if (!inbuf)
        return 1;
    outbuf = inbuf + grp;
    for (j = 0; j < N; j++)
        u[j] = j + rank;
    for (j = 1; j < N; j += grp) {
        jjsize = MAX(grp, N - j - 1);
        if (rank > 0) {
            MPI_Recv(inbuf, jjsize, MPI_DOUBLE, rank - 1, j, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(inbuf) OPI204
            for (jj = 0; jj < jjsize; jj++)
                u[jj + j] += inbuf[jj];
        }
        if (rank < size - 1) {
            for (jj = 0; jj < jjsize; jj++)
                outbuf[jj] = u[jj + j];
            MPI_Send(outbuf, jjsize, MPI_DOUBLE, rank + 1, j, MPI_COMM_WORLD); //~ keep(outbuf) OPI104
        }
    }
    for (j = 0; j < N; j++)
        total += u[j] * j;
    printf("%d: %.17g\n", rank, total);
    free(inbuf);
    MPI_Finalize();
    return 0;
}
