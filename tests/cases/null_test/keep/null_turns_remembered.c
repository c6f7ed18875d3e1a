/* What an earlier turn received is read by another name: it must not be freed where the pointer is set anew. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *a = NULL, *before = NULL;
    for (int t = 0; t < 7; t++) {
        int m = (t + 1) % 3 * 100;
        before = a;
        a = NULL;
        if (m > 0)
            a = malloc(m * sizeof *a);
        if (rank == 0) {
            for (int i = 0; i < m; i++)
                a[i] = i + t;
            MPI_Send(a, m, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(a)
        } else if (rank == 1) {
            MPI_Recv(a, m, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(a)
            for (int i = 0; i < m; i++)
                total += a[i];
        }
        if (before && rank == 1)
            total += before[0];
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
