/* An exchange whose status tells how much has come. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 300

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *in = malloc(N * sizeof *in), *out = malloc(N * sizeof *out), sum = 0;
    MPI_Status status;
    int count, peer = 1 - rank;
    if (in == NULL || out == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < N; i++)
        out[i] = i + rank;
    MPI_Sendrecv(out, N - 30 * (rank + 1), MPI_DOUBLE, peer, 0, in, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &status); //~ take(in) give(out) no-stale-count
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    for (int i = 0; i < count; i++)
        sum += in[i] * (i + 1);
    if (rank == 0)
        printf("%d %.1f\n", count, sum);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
