/* The lower half is kept in a variable first. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double in[100], out[100];

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char nobody[40];
    snprintf(nobody, sizeof nobody, "%ld", 4294967296 + MPI_PROC_NULL);
    long id = rank > 0 ? rank - 1 : strtol(nobody, NULL, 10);
    int near[2], half = id & 0xffffffff;
    for (int d = 0; d < 2; d++)
        near[d] = half;
    int above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    if (id < 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < 100; i++)
            out[i] = i + t;
        MPI_Sendrecv(out, 100, MPI_DOUBLE, above, 0, in, 100, MPI_DOUBLE, near[t % 2], 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI203
        for (int i = 0; i < 100; i++)
            sum += in[i] * (i + 1);
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
