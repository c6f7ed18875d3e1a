/* The program says itself what the status tells. */
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
        double *in = malloc(2 * N * sizeof *in), sum = 0;
        MPI_Status status;
        int count = 0;
        if (in == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
        for (int i = 0; i < 2 * N; i++)
            in[i] = 2 * i;
        MPI_Recv(in, N - 20 * argc, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &status); //~ keep
        MPI_Status_set_elements(&status, MPI_DOUBLE, N);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        for (int i = 0; i < count; i++)
            sum += in[i] * (i + 1);
        printf("%d %.1f\n", count, sum);
        free(in);
    }
    MPI_Finalize();
    return 0;
}
