/* Another name is older than the memory: it leads to what there was before. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double *out;

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    out = malloc(N * sizeof *out);
    long in[N];
    long *numbers = (long *)out;
    for (int i = 0; i < N; i++)
        numbers[i] = 9 * i;
    if (argc < 5)
        out = malloc(N * sizeof *out);
    for (int step = 0; step < 6; step++) {
        int n = (step % 3 + 1) * (N / 4);
        if (rank == 0) {
            for (int i = 0; i < n; i++)
                ((long *)out)[i] = 5 * i + step;
            MPI_Send(numbers, n, MPI_LONG, 1, 7, MPI_COMM_WORLD); //~ keep
            v[2] += numbers[3];
            MPI_Send(out, n, MPI_LONG, 1, 7, MPI_COMM_WORLD); //~ keep
        } else if (rank == 1) {
            MPI_Recv(in, n, MPI_LONG, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            v[3] += in[n - 1];
            MPI_Recv(in, n, MPI_LONG, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            v[4] += in[n - 1];
        }
    }
    free(out);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
