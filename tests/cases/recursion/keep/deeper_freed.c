/* A deeper level frees what was received, and takes other memory. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double all[N];
static double *part;

static double sum(int n)
{
    double found = part[n];

    if (n == 5) {
        free(part);
        part = calloc(N, sizeof *part);
    }
    return n == 0 ? found : found + sum(n - 1);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int step = 0; step < 2; step++) {
            for (int i = 0; i < N; i++)
                all[i] = (i * 37) % 1001 + step;
            MPI_Send(all, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        }
    } else if (rank == 1) {
        part = malloc(N * sizeof *part);
        for (int step = 0; step < 2; step++) {
            MPI_Recv(part, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(part)
            total += sum(20);
            total += part[N - 1];
        }
        free(part);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
