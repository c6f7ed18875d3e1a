/* Another name frees the block that was sent. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *sum(const double *a, const double *b, int n)
{
    double *c;
    c = malloc(n * sizeof *c);
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
    return c;
}

int main(int argc, char **argv)
{
    int rank, n = 300;
    double *a, *b, *first, s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    a = malloc(n * sizeof *a);
    b = malloc(n * sizeof *b);
    for (int i = 0; i < n; i++)
        a[i] = b[i] = i + rank;
    if (rank == 0) {
        first = a;
        a = sum(a, b, n);
        free(first);
        first = a;
        MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep
        free(first);
    } else {
        if (rank == 1) {
            MPI_Recv(a, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            s = a[n - 1];
        }
        free(a);
    }
    printf("%d %.17g\n", rank, s);
    free(b);
    MPI_Finalize();
    return 0;
}
