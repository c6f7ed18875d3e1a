/* A function receives, tells how much it was, and another one reads that. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 300

static int fetch(double *in, int from)
{
    MPI_Status status;
    int count = 0;
    MPI_Recv(in, N, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &status); //~ take(in) no-stale-count
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    return count;
}

static double sum(const double *b, int n)
{
    double all = 0;
    for (int i = 0; i < n; i++)
        all += b[i] * (i + 1);
    return all;
}

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
        double *in = malloc(N * sizeof *in);
        if (in == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
        int count = fetch(in, 1);
        printf("%d %.1f\n", count, sum(in, count));
        free(in);
    }
    MPI_Finalize();
    return 0;
}
