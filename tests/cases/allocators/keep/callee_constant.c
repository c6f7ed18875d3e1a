/* The pointer in the function is a constant: nobody may set it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *input(int n)
{
    double *const p = aligned_alloc(64, n * sizeof(double));
    for (int i = 0; i < n; i++)
        p[i] = 0.5 * i;
    return p;
}

int main(int argc, char **argv)
{
    int rank, n = 2048;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1)
        n = atoi(argv[1]);
    double *a;
    if (rank == 0)
        a = input(n);
    else
        a = malloc(n * sizeof(double));
    if (rank == 0)
        MPI_Send(a, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(a) OPI114
    else if (rank == 1)
        MPI_Recv(a, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(a) OPI215
    if (rank == 1)
        for (int i = 0; i < n; i++)
            total += a[i] * (i + 1);
    free(a);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
