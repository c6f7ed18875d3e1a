/* The alignment comes from a function that counts how often it is asked. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N];
static int asked;

static size_t alignment(void)
{
    asked++;
    return 64;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0, *b = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (posix_memalign((void **)&b, alignment(), N * sizeof *b))
        return 1;
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            b[i] = 2.0 * u[i];
        MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(b)
    } else if (rank == 1) {
        MPI_Recv(b, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(b)
        for (int i = 0; i < N; i++)
            total += b[i] * (i + 1);
    }
    printf("%d: %d %.17g\n", rank, asked, total);
    free(b);
    MPI_Finalize();
    return 0;
}
