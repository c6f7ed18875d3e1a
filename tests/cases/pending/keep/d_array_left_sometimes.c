/* The function waits for its array's message in large cases only: in others the receive goes on when the array is gone. */
//~ silent: a run with few elements would write into memory of a function that has returned
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_Request request = MPI_REQUEST_NULL;

static double early(int n, int many, int rank)
{
    double in[n];

    if (rank == 1)
        MPI_Irecv(in, n, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, &request); //~ keep(in)
    if (many) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return rank == 1 ? in[n / 2] : 0;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int rank, n = argc > 9 ? 40 : 3000;
    double *out = malloc(n * sizeof *out);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < n; i++)
        out[i] = i % 5 + 0.25;
    if (rank == 0)
        MPI_Send(out, n, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD);
    printf("%d: %g\n", rank, early(n, n > 1000, rank));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(out);
    MPI_Finalize();
    return 0;
}
