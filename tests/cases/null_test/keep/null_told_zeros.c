/* The zeros of calloc are sent; without memory the program ends in good order. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, n = 2000;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *b = calloc(argc < 9 ? (size_t)-1 / 16 : (size_t)n, sizeof(double));
    if (b == NULL) {
        printf("%d: no memory\n", rank);
        MPI_Finalize();
        return 2;
    }
    if (rank == 0) {
        for (int i = 0; i < n; i += 2)
            b[i] = i;
        MPI_Send(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(b)
    } else if (rank == 1) {
        MPI_Recv(b, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            total += b[i] * (i + 1);
    }
    printf("%d: %.17g\n", rank, total);
    free(b);
    MPI_Finalize();
    return 0;
}
