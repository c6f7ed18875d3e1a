/* What makes the buffer stands in `do … while (0)` under the test. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double *b;

int main(int argc, char **argv)
{
    int rank, count = 0;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 6; step++) {
        int n = (step % 3 + 1) * (N / 4);
        if (rank == 0) {
            if (!b)
                do {
                    b = malloc(N * sizeof(double));
                } while (0);
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                b[i] = u[i] + step;
            MPI_Send(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(b)
        } else if (rank == 1) {
            MPI_Recv(v, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    free(b);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %d %.17g\n", rank, count, total);
    MPI_Finalize();
    return 0;
}
