/* What is subtracted is a sum, also by its name; the second half is read from behind. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600
#define LAST N - 1

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *buf = malloc(2 * N * sizeof(double));
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                buf[i] = u[i] + step;
            MPI_Send(buf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(buf)
        } else if (rank == 1) {
            MPI_Recv(buf + N, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(buf + N)
            for (int i = 0; i < N; i++)
                v[i] += buf[2 * N - 1 - (N - 1 - i)] - 0.5 * buf[2 * N - 1 - ((LAST) - i)];
        }
    }
    free(buf);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
//~ points 4
