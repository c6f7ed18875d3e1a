/* A wrapper changes the number of the place that keeps what it gives. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double *kept[2];
static int last;
static int calls;
static void *get(size_t bytes)
{
    void *p = malloc(bytes);

    if (p == NULL)
        exit(1);
    calls++;
    last = 1;
    return p;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    kept[last] = get(N * sizeof(double));
    kept[last] = get(N * sizeof(double));
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                kept[0][i] = u[i] + step;
            MPI_Send(kept[0], N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(kept[0])
        } else if (rank == 1) {
            MPI_Recv(kept[1], N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(kept[1])
            for (int i = 0; i < N; i++)
                v[i] += kept[1][i];
        }
    }
    free(kept[0]);
    free(kept[1]);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    printf("%d\n", calls);
    MPI_Finalize();
    return 0;
}
