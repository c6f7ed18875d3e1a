/* Where the second name is used, a macro declares a variable by the name of the first. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 600

static double u[N], v[N];
#define WITHIN(statement) do { double in[2] = {7, 9}; statement; v[3] += in[0]; } while (0)

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in);
    for (int step = 0; step < 4; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = u[i] + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            double *second = in;
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in)
            for (int i = 0; i < N; i++)
                v[i] += in[i];
            WITHIN(v[2] += second[1]);
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
