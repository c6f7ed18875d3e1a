/* A local pointer, and the receiver has one too. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank, count = 0;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *b = NULL, *r = NULL;
    for (int step = 0; step < 6; step++) {
        int n = (step % 3 + 1) * (N / 4);
        if (rank == 0) {
            if (!b)
                b = malloc(N * sizeof(double));
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                b[i] = u[i] + step;
            MPI_Send(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(b)
        } else if (rank == 1) {
            if (r == 0)
                r = malloc(N * sizeof(double));
            MPI_Recv(r, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(r)
            for (int i = 0; i < n; i++)
                v[i] += r[i];
        }
    }
    free(b);
    free(r);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %d %.17g\n", rank, count, total);
    MPI_Finalize();
    return 0;
}
