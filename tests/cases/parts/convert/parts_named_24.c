/* A macro is the name of a part in a message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BUFFER_1 out
#define N 400

static double u[2 * N];

static double *in, *out;

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    double *both = malloc(2 * (size_t)n * sizeof(double));
    in = both;
    out = both + n;
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < n; i++)
            out[i] = u[i] + step;
        if (rank == 0) {
            MPI_Send(BUFFER_1, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(out)
            MPI_Recv(in, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
        } else {
            MPI_Recv(in, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            MPI_Send(out, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD); //~ give(out)
        }
        for (int i = 0; i < n; i++)
            u[i] += in[i];
    }
    double total = 0.0;
    for (int i = 0; i < 2 * N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(in);
    MPI_Finalize();
    return 0;
}
//~ points 4
