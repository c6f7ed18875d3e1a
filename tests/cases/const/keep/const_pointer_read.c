/* The pointers are const; what was sent is read at the end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int n = 300, peer = size - 1 - rank;
    double *const u = malloc(n * sizeof(double));
    double *const out = malloc(n * sizeof *out), *const in = malloc(n * sizeof *in);
    for (int i = 0; i < n; i++)
        u[i] = rank + i;
    for (int t = 0; t < 3; t++) {
        MPI_Request rq;
        for (int i = 0; i < n; i++)
            out[i] = u[i] * 2;
        MPI_Irecv(in, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq); //~ take(in)
        MPI_Send(out, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD); //~ keep OPI101
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            u[i] += in[i] / 4;
    }
    double s = 0;
    for (int i = 0; i < n; i++)
        s += u[i] * i;
    s += out[1];
    printf("%d %.17g\n", rank, s);
    free(out);
    free(in);
    free(u);
    MPI_Finalize();
    return 0;
}
