/* A statement expression packs where a number says so. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = 400, peer = size - 1 - rank;
    double *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out), *u = calloc(n, sizeof *u);
    double s = 0;
    u[1] = argc;
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < n; i++)
            s += ({ double v; v = i + t; if (u[i] >= 0) out[i] = v; v; });
        MPI_Request rq;
        MPI_Irecv(in, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq); //~ take(in)
        MPI_Send(out, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD); //~ keep OPI102
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            s += in[i];
    }
    printf("%d %g\n", rank, s);
    free(in);
    free(out);
    free(u);
    MPI_Finalize();
    return 0;
}
