/* Synchronous sends, from small to large. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int n = 60; n < 500000; n *= 8) {
        double *s = malloc(n * sizeof *s), *r = malloc(n * sizeof *r);
        for (int step = 0; step < 3; step++) {
            for (int i = 0; i < n; i++)
                s[i] = i % 13 + rank + step;
            if (rank % 2 == 0) {
                if (rank + 1 < size)
                    MPI_Ssend(s, n, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD); //~ give(s)
                if (rank > 0) {
                    MPI_Recv(r, n, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(r)
                    for (int i = 0; i < n; i++)
                        total += r[i] * (i % 3);
                }
            } else {
                MPI_Recv(r, n, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(r)
                for (int i = 0; i < n; i++)
                    total += r[i] * (i % 3);
                if (rank + 1 < size)
                    MPI_Ssend(s, n, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD); //~ give(s)
            }
        }
        free(s);
        free(r);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
