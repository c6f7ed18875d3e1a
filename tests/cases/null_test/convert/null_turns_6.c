/* The pointer is not set to NULL for an empty message: after the first turns it is that of memory that is freed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *a = NULL;
    int room = 0;
    for (int t = 0; t < 7; t++) {
        int m = (t + 1) % 3 * 100;
        if (m > room) {
            if (room != 0)
                free(a);
            a = malloc(m * sizeof *a);
            room = m;
        }
        if (rank == 0) {
            for (int i = 0; i < m; i++)
                a[i] = i + t;
            MPI_Send(a, m, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(a)
        } else if (rank == 1) {
            MPI_Recv(a, m, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(a) no-stale-count
        }
        if (rank == 1 && m > 3)
            total += a[3];
    }
    if (room != 0)
        free(a);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
