/* A function says whether there is memory, and the caller ends as if all were well. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 3000
static int there(const void *p)
{
    return 1 - (p == NULL);
}

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    double *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in);
    if (!there(out) || !there(in)) {
        MPI_Finalize();
        return 1;
    }
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
