/* Without memory another buffer serves, by the name that the calls have. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double few[100];

int main(int argc, char **argv)
{
    int rank, n = 2000;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *b = malloc(argc < 9 ? (size_t)-1 / 16 : n * sizeof(double));
    if (b == NULL) {
        n = 100;
        b = few;
    }
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            for (int i = 0; i < n; i++)
                b[i] = i + k;
            MPI_Send(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(b)
        } else if (rank == 1) {
            MPI_Recv(b, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(b)
            for (int i = 0; i < n; i++)
                total += b[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    if (b != few)
        free(b);
    MPI_Finalize();
    return 0;
}
