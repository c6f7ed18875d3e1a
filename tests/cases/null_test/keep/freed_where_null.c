/* The function frees only what is not there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

static double v[N];

static void done(double *p)
{
    if (p)
        return;
    free(p);
}

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *out = malloc(N * sizeof(double)), *in = malloc(N * sizeof(double));
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = t + 0.5 * i;
            MPI_Send(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(out)
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in)
            for (int i = 0; i < N; i++)
                sum += (t + 1) * in[i] + v[i];
        }
    }
    done(out);
    done(in);
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
