/* A statement expression with a loop is not followed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define MIN(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a < _b ? _a : _b; })
#define MAX(x, y) ({ __typeof__(x) _x = (x), _y = (y); _x > _y ? _x : _y; })
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = MIN(MIN(argc * 300, 400), 500), peer = size - 1 - rank;
    double *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out);
    double s = 0;
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < n; i++)
            out[i] = MAX(MIN(i, t), rank);
        MPI_Request rq;
        MPI_Irecv(in, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq); //~ keep
        MPI_Send(out, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD); //~ keep
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            s = MAX(s, in[i]) + in[i];
        s += ({ double _m = 0; for (int i = 0; i < 3; i++) _m += out[i]; _m; });
    }
    printf("%d %g\n", rank, s);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
