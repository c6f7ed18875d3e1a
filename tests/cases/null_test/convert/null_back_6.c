/* An error code says that there is no memory. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int get(int n, double **out)
{
    double *p = malloc(n * sizeof(double));
    if (p == NULL)
        return -1;
    p[0] = 0;
    *out = p;
    return 0;
}

int main(int argc, char **argv)
{
    int rank, n = 2048;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1)
        n = atoi(argv[1]);
    double *a = NULL;
    if (get(n, &a) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
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
