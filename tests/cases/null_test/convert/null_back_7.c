/* Each test may find NULL where nothing was to be allocated; then and without memory the program ends. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, n = 300;
    double x = 1, *r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int partner = rank ^ 1, there = partner < size;
    double *s = !there ? NULL : malloc((size_t)n * sizeof *s);
    r = there ? malloc((size_t)n * sizeof *r) : NULL;
    if (there && !s)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (there && r == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int k = 0; k < 3 * there; k++) {
        for (int i = 0; i < n; i++)
            s[i] = x + i;
        MPI_Sendrecv(s, n, MPI_DOUBLE, partner, 0, r, n, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(s) take(r)
        for (int i = 0; i < n; i++)
            x += r[i] * 0.001;
    }
    free(s);
    free(r);
    printf("%d %.17g\n", rank, x);
    MPI_Finalize();
    return 0;
}
