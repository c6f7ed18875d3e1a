/* A branch in a statement expression reads what was sent. */
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
            out[i] = i + t;
        MPI_Request rq;
        MPI_Irecv(in, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq); //~ take(in)
        MPI_Send(out, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD); //~ keep OPI101
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            s += in[i];
        s += ({ double v = 0; if (u[1] > 0) v = out[t]; v; });
    }
    printf("%d %g\n", rank, s);
    free(in);
    free(out);
    free(u);
    MPI_Finalize();
    return 0;
}
