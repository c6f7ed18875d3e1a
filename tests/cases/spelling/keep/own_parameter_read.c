/* The helper reads what its caller has sent before it sets its copy. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double again(double *b, int n, int rank)
{
    double sum = b[n - 1];

    b = malloc(n * sizeof *b);
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            b[i] = sum + i;
        MPI_Send(b, n, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++)
            b[i] = sum - i;
        MPI_Send(b, n, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    } else if (rank == 1) {
        for (int k = 0; k < 2; k++) {
            MPI_Recv(b, n, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < n; i++)
                sum += b[i];
        }
    }
    free(b);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, n = 64;
    double total = 0.0, *sbuf = malloc(n * sizeof *sbuf);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < n; i++)
            sbuf[i] = i * (t + 1) + rank;
        if (rank == 0)
            MPI_Send(sbuf, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep
        else if (rank == 1)
            MPI_Recv(sbuf, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        total += again(sbuf, n, rank);
    }
    printf("%d: %.17g\n", rank, total);
    free(sbuf);
    MPI_Finalize();
    return 0;
}
