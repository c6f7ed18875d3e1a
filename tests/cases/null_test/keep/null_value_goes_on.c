/* The program says that there is no memory, and goes on. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static int allocate(double **to, size_t n)
{
    *to = malloc(n * sizeof(double));
    return *to == NULL;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0, *a = NULL, *b = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (allocate(&a, N) || allocate(&b, N))
        fprintf(stderr, "out of memory\n");
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            a[i] = 0.5 * i;
        MPI_Send(a, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(a) OPI105
    } else if (rank == 1) {
        MPI_Recv(b, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(b) OPI205
        for (int i = 0; i < N; i++)
            total += b[i] * (i + 1);
    }
    free(a);
    free(b);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
