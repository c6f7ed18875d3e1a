/* The same, negated, and one call after the other. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static int allocate(double **to, size_t n)
{
    *to = malloc(n * sizeof(double));
    return !*to;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0, *a, *b;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (allocate(&a, N) != 0)
        exit(1);
    if (allocate(&b, N) != 0)
        exit(1);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                a[i] = step + 0.5 * i;
            MPI_Send(a, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(a)
        } else if (rank == 1) {
            MPI_Recv(b, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
            for (int i = 0; i < N; i++)
                total += b[i] * (i + 1);
        }
    }
    free(a);
    free(b);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
