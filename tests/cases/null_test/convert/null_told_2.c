/* Without memory an error code, which the caller forgives. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int work(size_t n, int rank, double *sum)
{
    double x = 0, *b = malloc(n * sizeof *b);
    if (!b)
        return -1;
    if (rank == 0) {
        for (int i = 0; i < (int)n; i++)
            b[i] = i;
        MPI_Send(b, (int)n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(b)
    } else if (rank == 1) {
        MPI_Recv(b, (int)n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
        for (int i = 0; i < (int)n; i++)
            x += b[i];
    }
    *sum += x;
    free(b);
    return 0;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double sum = 0;
    int failed = 0;
    for (int k = 0; k < 3; k++)
        if (work(k == 1 ? (size_t)1 << 50 : 1000, rank, &sum) < 0)
            failed++;
    printf("%d %g %d\n", rank, sum, failed);
    MPI_Finalize();
    return 0;
}
