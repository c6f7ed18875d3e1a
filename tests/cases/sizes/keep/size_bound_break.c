/* A negative number is a large one, and the loop is left by a break. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    int n = argc > 1 ? atoi(argv[1]) : -1;
    double *out, *in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    out = malloc(N * sizeof *out);
    in = malloc(N * sizeof *in);
    for (int i = 0; i < N; i++)
        in[i] = out[i] = i;
    if (n > 16)
        return 1;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < 16; i++)
                out[i] = u[i] + step;
            MPI_Send(out, 16, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(in, 16, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in)
            for (size_t i = 0; i < (size_t)n; i++) {
                v[i] += in[i];
                if (i == 31)
                    break;
            }
        }
    }
    free(out);
    free(in);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
