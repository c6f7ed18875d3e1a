/* The same, asked before the loop and after it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *s, *r;

int main(int argc, char **argv)
{
    int rank, size, n = 300;
    double x = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        s = malloc((size_t)n * sizeof *s);
    if (rank == 1)
        r = malloc((size_t)n * sizeof *r);
    int sends = s != NULL, receives = !!r;
    for (int k = 0; k < 4; k++) {
        if (sends) {
            for (int i = 0; i < n; i++)
                s[i] = x + i;
            MPI_Send(s, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep OPI105
        }
        if (receives) {
            MPI_Recv(r, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI205
            for (int i = 0; i < n; i++)
                x += r[i] * 0.001;
        }
    }
    if (s)
        x += 1;
    x += 2 * (r != NULL);
    printf("%d %.17g\n", rank, x);
    free(s);
    free(r);
    MPI_Finalize();
    return 0;
}
