/* A function hands out memory in each turn of a loop. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *input(int n)
{
    double *p = malloc(n * sizeof(double));
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
    for (int t = 0; t < 4; t++) {
        if (rank == 0) {
            double *a = input(n);
            MPI_Send(a, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(a)
            free(a);
        } else if (rank == 1) {
            double *b = malloc(n * sizeof(double));
            MPI_Recv(b, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
            for (int i = 0; i < n; i++)
                total += b[i] * (i + 1);
            free(b);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
