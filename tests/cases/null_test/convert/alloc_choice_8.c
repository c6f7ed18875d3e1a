/* The same with a count that is negative where there is nothing to send. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double shift(int rank, int size, int n, int more)
{
    double x = 1;
    double *s = n > 0 ? malloc(n * sizeof *s) : NULL;
    double *r = malloc((size_t)more * sizeof *r);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
            s[i] = x + i;
        if (n > 0)
            MPI_Send(s, n, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD); //~ give(s)
        if (rank > 0) {
            MPI_Recv(r, more, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(r)
            for (int i = 0; i < more; i++)
                x += r[i] * 0.001;
        }
    }
    free(s);
    free(r);
    return x * size;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double x = shift(rank, size, rank + 1 < size ? 300 : -1, 300);
    printf("%d %.17g\n", rank, x);
    MPI_Finalize();
    return 0;
}
