/* A local is set to the memory after its declaration, and does nothing but to pass it on. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *a;

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 7; t++) {
        int m = (t + 1) % 3 * 100;
        double *memory;
        memory = m > 0 ? malloc(m * sizeof *a) : NULL;
        a = memory;
        if (rank == 0) {
            for (int i = 0; i < m; i++)
                a[i] = i + t;
            MPI_Send(a, m, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(a)
        } else if (rank == 1) {
            MPI_Recv(a, m, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(a) no-stale-count
        }
        if (rank == 1 && m > 3)
            total += a[3];
        if (m > 0)
            free(a);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
