/* A function that hands out memory reads a setting, which changes after the parts only; macros name elements. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
#define OLD(i) b[(i)]
#define NEW(i, j) r[(i) + n * (j)]
static int limited;
static void *get(size_t bytes)
{
    if (limited)
        exit(1);
    void *p = malloc(bytes);

    if (p == NULL)
        exit(1);
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
    int n = N / 4;
    double *b = get(2 * N * sizeof *b), *r = b + N;
    limited = 1;
    OLD(0) = NEW(0, 0) = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 4; j++)
            NEW(i, j) = 1.0;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = u[i] + step;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(b)
        } else if (rank == 1) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(r)
            for (int i = 0; i < N; i++)
                v[i] += r[i];
        }
    }
    free(b);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
