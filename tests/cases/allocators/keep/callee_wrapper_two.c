/* The same, where the function that fills the memory is called for other memory, too. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *get(int n)
{
    return malloc(n * sizeof(double));
}
static double *input(int n)
{
    double *t = get(n);
    t[0] = 1;
    for (int i = 0; i < n; i++)
        t[i] = 0.5 * i;
    t[1] = t[0];
    return t;
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
    if (rank == 0) {
        MPI_Send(a, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(a) OPI114
        a[0] = 1;
    } else if (rank == 1) {
        a[0] = 1;
        MPI_Recv(a, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(a) OPI215
    }
    if (rank == 1)
        for (int i = 0; i < n; i++)
            total += a[i] * (i + 1);
    free(a);
    double *z = input(10);
    total += z[3];
    free(z);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
