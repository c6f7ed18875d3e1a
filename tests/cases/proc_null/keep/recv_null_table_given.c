/* A function makes an int of it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000
#ifdef OPEN_MPI
#define NOBODY 4294967294
#else
#define NOBODY 4294967295
#endif

static const unsigned near[8] = { NOBODY, 0, 1, 2, 3, 4, 5, 6 };

static int below(int rank)
{
    return near[rank];
}

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = below(rank);
    double *in = malloc(N * sizeof *in), *out = malloc(N * sizeof *out);
    for (int i = 0; i < N; i++)
        in[i] = 1000 + i;
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < N; i++)
            out[i] = rank + 0.5 * i * turn;
        unsigned right = rank + 1 < size ? (unsigned)rank + 1 : (unsigned)NOBODY;
        MPI_Sendrecv(out, N, MPI_DOUBLE, right, 5, in, N, MPI_DOUBLE, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(out) keep(in) OPI203
        for (int i = 0; i < N; i++)
            total += in[i] * (i % 13 + 1);
    }
    free(in);
    free(out);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
