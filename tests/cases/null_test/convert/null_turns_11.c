/* Pointers of an array are set to NULL in each turn. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *b[3] = { NULL, NULL, NULL };
    for (int t = 0; t < 7; t++) {
        int m = (t + 1) % 3 * 100;
        for (int j = 0; j < 3; j++) { b[j] = NULL; if (m > 0) b[j] = malloc(m * sizeof(double)); }
        for (int j = 0; j < 3; j++) {
        if (rank == 0) {
            for (int i = 0; i < m; i++)
                b[j][i] = i + t;
            MPI_Send(b[j], m, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(b[j])
        } else if (rank == 1) {
            MPI_Recv(b[j], m, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b[j]) no-stale-count
            for (int i = 0; i < m; i++)
                total += b[j][i] * (i % 5);
        }
}
        for (int j = 0; j < 3; j++) if (m > 0) free(b[j]);
    }

    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
