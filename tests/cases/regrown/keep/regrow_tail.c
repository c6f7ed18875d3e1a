/* After a short message more is read than it brings, in memory that was large before. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double *b;
static int room;

static void fit(int n)
{
    if (n > room) {
        free(b);
        b = malloc(n * sizeof *b);
        room = n;
    }
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    room = 16;
    b = malloc(room * sizeof *b);
    for (int step = 0; step < 6; step++) {
        int n = (3 - step % 3) * (N / 4);
        fit(n);
        if (rank == 0) {
            MPI_Send(u, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(b, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(b)
            for (int i = 0; i < room; i++)
                v[i] += b[i];
        }
    }
    free(b);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
