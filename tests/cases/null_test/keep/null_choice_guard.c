/* Whether there is memory is asked again after the message, in every turn. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, n = 300;
    double x = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *s = rank + 1 < size ? malloc((size_t)n * sizeof *s) : NULL;
    double *r = rank > 0 ? malloc((size_t)n * sizeof *r) : NULL;
    for (int k = 0; k < 3; k++) {
        if (s) {
            for (int i = 0; i < n; i++)
                s[i] = x + i;
            MPI_Send(s, n, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD); //~ keep(s) OPI105
        }
        if (r != NULL) {
            MPI_Recv(r, n, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(r) OPI205
            for (int i = 0; i < n; i++)
                x += r[i] * 0.001;
        }
    }
    printf("%d %.17g\n", rank, x);
    free(s);
    free(r);
    MPI_Finalize();
    return 0;
}
