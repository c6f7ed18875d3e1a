/* The condition counts its askers: evaluating it where the memory is made would do so elsewhere. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int asked;

static int wanted(int rank)
{
    asked++;
    return rank >= 0;
}

int main(int argc, char **argv)
{
    int rank, size, n = 300;
    double x = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *s = wanted(rank) ? malloc((size_t)n * sizeof *s) : NULL;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < n; i++)
            s[i] = x + i;
        double r[300];
        MPI_Sendrecv(s, n, MPI_DOUBLE, (rank + 1) % size, 0, r, n, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(s) OPI114 take(r)
        for (int i = 0; i < n; i++)
            x += r[i] * 0.001;
    }
    printf("%d %d %.17g\n", rank, asked, x);
    free(s);
    MPI_Finalize();
    return 0;
}
