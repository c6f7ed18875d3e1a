/* Without memory all ranks end in good order. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x = 0, *b = malloc((size_t)-1 / (argc < 9 ? 16 : 1 << 20));
    int n = 1000;
    if (!b) {
        printf("%d: not enough memory, try a smaller problem\n", rank);
        MPI_Finalize();
        return 2;
    }
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            b[i] = i;
        MPI_Send(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(b)
    } else if (rank == 1) {
        MPI_Recv(b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
        for (int i = 0; i < n; i++)
            x += b[i];
    }
    printf("%d %g\n", rank, x);
    free(b);
    MPI_Finalize();
    return 0;
}
