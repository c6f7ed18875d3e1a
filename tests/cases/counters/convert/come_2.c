/* The same of a buffer of the file, in a loop, backwards, with a room that the program computes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 300

static double in[N];

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        double *out = malloc(N * sizeof *out);
        if (out == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
        for (int i = 0; i < N; i++)
            out[i] = i + 0.5;
        MPI_Send(out, N - 20 * argc, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        MPI_Send(out, N - 40, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        free(out);
    }
    if (rank == 0) {
        int n = N + argc - 1;
        for (int k = 0; k < 2; k++) {
            double sum = 0;
            MPI_Status status;
            int count;
            MPI_Recv(in, n, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status); //~ take(in) no-stale-count
            MPI_Get_count(&status, MPI_DOUBLE, &count);
            for (int i = count - 1; i >= 0; i--)
                sum += in[i] * (i + 1);
            printf("%d %.1f\n", count, sum);
        }
    }
    MPI_Finalize();
    return 0;
}
