/* The condition that allocates also asks whether there was memory. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *s, *r;

static int setup(int n)
{
    if ((s = malloc((size_t)n * sizeof *s)) == NULL)
        return 1;
    if (!(r = (double *)malloc((size_t)n * sizeof *r))) {
        free(s);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int rank, size, n = 300;
    double x = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (setup(n)) {
        fprintf(stderr, "no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
            s[i] = x + i;
        MPI_Sendrecv(s, n, MPI_DOUBLE, (rank + 1) % size, 0, r, n, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(s) take(r)
        for (int i = 0; i < n; i++)
            x += r[i] * 0.001;
    }
    printf("%d %.17g\n", rank, x);
    free(s);
    free(r);
    MPI_Finalize();
    return 0;
}
