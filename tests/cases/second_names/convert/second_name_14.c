/* A pointer that may be NULL is copied, and walks along the memory. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *a;

int main(int argc, char **argv)
{
    int rank;
    double total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 6; t++) {
        int m = t % 3 * 50;
        a = NULL;
        if (m > 0)
            a = malloc(m * sizeof(double));
        if (rank == 0) {
            double *q = a;
            for (int i = 0; i < m; i++)
                *q++ = i + t;
            MPI_Send(a, m, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(a)
        } else if (rank == 1) {
            MPI_Recv(a, m, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(a)
            for (int i = 0; i < m; i++)
                total += a[i];
        }
        if (m > 0)
            free(a);
    }
    printf("%d %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
