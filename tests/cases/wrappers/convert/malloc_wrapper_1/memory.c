#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

double *vector(int count)
{
    double *p = malloc((size_t)count * sizeof(double));
    if (p == NULL) {
        fprintf(stderr, "no memory for %d numbers\n", count);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}
