/* Rows of an array, each from a wrapper that counts. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int calls;
static void *get(size_t bytes)
{
    void *p = malloc(bytes);

    if (p == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
    calls++;
    if (getenv("SHOW_MEMORY"))
        printf("%zu bytes\n", bytes);
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
    double *b[4];

    for (int d = 0; d < 4; d++)
        b[d] = get(N * sizeof(double));
    for (int step = 0; step < 3; step++) {
        for (int d = 0; d < 4; d++) {
            if (rank == 0) {
                for (int i = 0; i < N; i++)
                    b[d][i] = u[i] + step * d;
                MPI_Send(b[d], N, MPI_DOUBLE, 1, d, MPI_COMM_WORLD); //~ give(b[d])
            } else if (rank == 1) {
                MPI_Recv(v, N, MPI_DOUBLE, 0, d, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        }
    }
    for (int d = 0; d < 4; d++)
        free(b[d]);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g %d\n", rank, total, calls);
    MPI_Finalize();
    return 0;
}
