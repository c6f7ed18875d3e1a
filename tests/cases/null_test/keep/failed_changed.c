/* The neighbour is another one by the time of the test. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 3000

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int side = up;
    double *out = side != MPI_PROC_NULL ? malloc(N * sizeof *out) : NULL;
    side = down;
    if (!out && side == MPI_PROC_NULL && size > 1)
        exit(1);
    side = down;
    double *in = NULL;
    if (side != MPI_PROC_NULL)
        in = malloc(N * sizeof *in);
    side = up;
    if (!in && side != MPI_PROC_NULL && rank > 0)
        exit(1);
    for (int t = 0; t < 3; t++) {
        if (up != MPI_PROC_NULL) {
            for (int i = 0; i < N; i++)
                out[i] = rank + t * i;
            MPI_Send(out, N, MPI_DOUBLE, up, 7, MPI_COMM_WORLD); //~ keep(out) OPI105
        }
        if (down != MPI_PROC_NULL) {
            MPI_Recv(in, N, MPI_DOUBLE, down, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI205
            for (int i = 0; i < N; i++)
                total += in[i] * (t + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
