/* The caller has memory there, too: the helper reads it first, then sets its copy to another block. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double pass(const double *first, double work[], int n, int rank)
{
    double sum = work[n - 1];

    work = malloc(n * sizeof(double));
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            work[i] = first[i] + sum;
        MPI_Send(work, n, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); //~ give(work)
        for (int i = 0; i < n; i++)
            work[i] = first[i] - sum;
        MPI_Send(work, n, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); //~ give(work)
    } else if (rank == 1) {
        for (int k = 0; k < 2; k++) {
            MPI_Recv(work, n, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(work) no-stale-count
            for (int i = 0; i < n; i++)
                sum += work[i] * (k + 1);
        }
    }
    free(work);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, n = 70;
    double own[70], first[70];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < n; i++) {
        first[i] = rank + 0.5 * i;
        own[i] = 3.0 * i;
    }
    double a = pass(first, own, n, rank), b = pass(own, first, n, rank);
    printf("%d: %.17g %.17g %g\n", rank, a, b, own[3]);
    MPI_Finalize();
    return 0;
}
