/* Memory for what a rank sends and receives, where it has a neighbour, and NULL otherwise. */
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
    double *s = rank + 1 < size ? malloc(n * sizeof *s) : NULL;
    double *r = rank > 0 ? malloc(n * sizeof *r) : NULL;
    for (int k = 0; k < 4; k++) {
        if (rank + 1 < size) {
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                s[i] = x + i;
            MPI_Send(s, n, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD); //~ give(s)
        }
        if (rank > 0) {
            MPI_Recv(r, n, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(r)
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
