/* Another buffer is read where this one was allocated anew. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double *b, *x;
static int room;

static void fit(int n)
{
    double *was = b;

    if (n > room) {
        free(b);
        b = malloc(n * sizeof *b);
        room = n;
    }
    if (was != b)
        v[3] += x[5];
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *y = malloc(N * sizeof *y);

    x = malloc(N * sizeof *x);
    for (int i = 0; i < N; i++)
        x[i] = 0.0;
    room = 16;
    b = malloc(room * sizeof *b);
    for (int step = 0; step < 4; step++) {
        fit(100 << step);
        for (int i = 0; i < 100; i++)
            b[i] = step;
        if (rank == 0) {
            MPI_Send(b, 100, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD);
            for (int i = 0; i < N; i++)
                x[i] = (i - 5) * (step + 1);
            MPI_Send(x, N, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD); //~ keep(x) OPI101
        } else if (rank == 1) {
            MPI_Recv(b, 100, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            v[0] += b[7];
            MPI_Recv(y, N, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            v[1] += y[9];
        }
    }
    free(b);
    free(x);
    free(y);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
