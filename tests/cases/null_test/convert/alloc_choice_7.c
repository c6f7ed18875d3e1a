/* The size has a value only where memory is needed: with no neighbour it would divide by zero. */
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
    int parts = rank + 1 < size ? size + 1 : 0, count = 0;
    double *s = NULL, *r = malloc((size_t)n * sizeof *r);
    if (parts)
        s = malloc(n / parts * sizeof *s);
    if (parts)
        count = n / parts;
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < count; i++) //~ hole: i = 0 => i = 1
            s[i] = x + i;
        if (parts)
            MPI_Send(s, count, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD); //~ give(s)
        if (rank > 0) {
            MPI_Status st;
            int came;
            MPI_Recv(r, n, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, &st); //~ take(r)
            MPI_Get_count(&st, MPI_DOUBLE, &came);
            for (int i = 0; i < came; i++)
                x += r[i] * 0.001;
        }
    }
    printf("%d %.17g\n", rank, x);
    free(s);
    free(r);
    MPI_Finalize();
    return 0;
}
