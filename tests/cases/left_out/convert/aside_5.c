/* Two texts, one of them that nobody compiles. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void distribute(double mine[], int n)
{
    int i, k = 0;

    if (rank == 0) {
        double *all = malloc(n * size * sizeof *all);

        for (i = 0; i < n * size; i++)
            all[i] = i * 0.5;
        for (i = 0; i < n; i++)
            mine[k++] = all[i];
#if 0
        printf("%g\n", mine[0]);
#endif
        for (int d = 1; d < size; d++)
            MPI_Send(all + d * n, n, MPI_DOUBLE, d, 0, MPI_COMM_WORLD);
        free(all);
    } else {
        MPI_Recv(mine, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(mine)
    }
#ifdef CHECK
    if (mine[0] < 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
#endif
}

int main(int argc, char **argv)
{
    int n = 300;
    double total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *mine = malloc(n * sizeof *mine);
    distribute(mine, n);
    for (int i = 0; i < n; i++)
        total += mine[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(mine);
    MPI_Finalize();
    return 0;
}
