/* A local pointer begins as the one that the function sets, and walks through the memory. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static size_t most;

static void allocate(double **to, size_t n)
{
    if (n > most)
        most = n;
    *to = malloc(n * sizeof(double));
    if (!*to)
        exit(1);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0, *a, *b;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    allocate(&a, N);
    allocate(&b, N);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            double *walker = a;
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                *walker++ = step + 0.5 * i;
            MPI_Send(a, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(a)
        } else if (rank == 1) {
            MPI_Recv(b, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
            for (double *at = b; at < b + N; at++)
                total += *at;
        }
    }
    free(a);
    free(b);
    printf("%d: %.17g %zu\n", rank, total, most);
    MPI_Finalize();
    return 0;
}
