/* The bytes are counted, and copied. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 300

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
        free(out);
    }
    if (rank == 0) {
        double *in = malloc(N * sizeof *in), *copy = calloc(N, sizeof *copy), sum = 0;
        MPI_Status status;
        int bytes = 0;
        if (in == NULL || copy == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Recv(in, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &status); //~ take(in) no-stale-count
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        char *to = (char *)copy, *from = (char *)in;
        for (int i = 0; i < bytes; i++)
            to[i] = from[i];
        for (int i = 0; i < N; i++)
            sum += copy[i] * (i + 1);
        printf("%d %.1f\n", bytes, sum);
        free(in);
        free(copy);
    }
    MPI_Finalize();
    return 0;
}
