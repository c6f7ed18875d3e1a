/* Macros with statement expressions in which there are variables without values, and branches. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECKED(call) ({ int _e = (call); if (_e != MPI_SUCCESS) { fprintf(stderr, "%d\n", _e); exit(1); } _e; })
#define CLAMP(x, lo, hi) ({ __typeof__(x) _c; if ((x) < (lo)) _c = (lo); else if ((x) > (hi)) _c = (hi); else _c = (x); _c; })
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = CLAMP(argc * 300, 200, 400), peer = size - 1 - rank;
    double *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out);
    double s = 0;
    int done = 0;
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < n; i++)
            out[i] = CLAMP(i, t, 20 + rank);
        if (rank % 2 == 0) {
            done += CHECKED(MPI_Send(out, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD)); //~ give(out)
            done += CHECKED(MPI_Recv(in, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); //~ take(in)
        } else {
            done += CHECKED(MPI_Recv(in, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); //~ take(in)
            done += CHECKED(MPI_Send(out, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD)); //~ give(out)
        }
        for (int i = 0; i < n; i++)
            s = CLAMP(s, in[i], 3 * in[i]) + in[i];
    }
    printf("%d %g %d\n", rank, s, done);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
