/* main calls itself: at the first level its globals have the numbers that they begin with. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 1024
static double u[N], seen;
static int rank, depth = 2;
int main(int argc, char **argv)
{
    if (depth == 2) {
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        for (int i = 0; i < N; i++)
            u[i] = i;
    }
    double *mine = malloc(N * sizeof *mine);
    for (int i = 0; i < N; i++)
        mine[i] = u[i] * depth;
    if (rank == 0)
        MPI_Send(mine, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(mine)
    if (rank == 1)
        MPI_Recv(mine, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1 || depth < 2)
        for (int i = 0; i < N; i++)
            seen += mine[i];
    free(mine);
    if (depth-- > 0)
        return main(argc, argv);
    printf("%d: %.17g\n", rank, seen);
    MPI_Finalize();
    return 0;
}
