/* The same, where the local variable is in the function that sends. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double *a;
static int rank;
static double total;
static double *get(int n) { return malloc(n * sizeof(double)); }

int main(int argc, char **argv)
{
    int n = 2048;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1)
        n = atoi(argv[1]);
    for (int t = 0; t < 3; t++) {
    double *p = get(n);
    for (int i = 0; i < n; i++) p[i] = 0.5 * i;
    p[n - 1] += p[0];
    a = p;
    if (rank == 0)
        MPI_Send(a, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(a) OPI114
    else if (rank == 1) {
        MPI_Recv(a, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(a) OPI215
        for (int i = 0; i < n; i++)
            total += a[i] * (i + 1);
    }
    free(a);
    }

    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
