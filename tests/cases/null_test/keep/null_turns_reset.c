/* A function sets the pointer to NULL: what came for an empty message would be lost there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static void reset(double **p) { *p = NULL; }

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *a = NULL;

    for (int t = 0; t < 7; t++) {
        int m = (t + 1) % 3 * 100;
        reset(&a); if (m > 0) a = malloc(m * sizeof *a);
        if (rank == 0) {
            for (int i = 0; i < m; i++)
                a[i] = i + t;
            MPI_Send(a, m, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(a, m, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(a) OPI215
            for (int i = 0; i < m; i++)
                total += a[i] * (i % 5);
        }
        if (m > 0)
            free(a);

    }

    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
