/* The program ends as if all were well. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *get(int n)
{
    double *p;
    if (n > 5000 || n == 0)
        return NULL;
    p = malloc(n * sizeof(double));
    if (p == NULL)
        return NULL;
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
    double *a = get(n);
    if (a == NULL) {
        MPI_Finalize();
        return 1;
    }
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            a[i] = i;
        MPI_Send(a, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(a)
    } else if (rank == 1) {
        MPI_Recv(a, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(a)
        for (int i = 0; i < n; i++)
            total += a[i] * (i + 1);
    }
    free(a);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
