/* One block is for two messages, which a macro writes: it is there as a whole, or not at all. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define SWAP(a, b, n, other) \
    MPI_Sendrecv(a, n, MPI_DOUBLE, other, 7, b, n, MPI_DOUBLE, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)

int main(int argc, char **argv)
{
    int rank, n = 2000;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *out = malloc(2 * n * sizeof(double));
    if (out == NULL) {
        printf("%d: no memory\n", rank);
        MPI_Finalize();
        return 1;
    }
    double *in = out + n;
    for (int k = 0; k < 3 && rank < 2; k++) {
        for (int i = 0; i < n; i++)
            out[i] = i + k + rank;
        SWAP(out, in, n, 1 - rank); //~ keep(out)
        for (int i = 0; i < n; i++)
            total += in[i] * (i + 1);
    }
    printf("%d: %.17g\n", rank, total);
    free(out);
    MPI_Finalize();
    return 0;
}
