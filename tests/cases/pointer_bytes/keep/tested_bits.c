/* What is kept of the address is more than whether it is there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *out = malloc(N * sizeof(double));
    int low = (int)(size_t)out & 7;
    if (low == 0 && rank == 0) {
        for (int i = 0; i < N; i++)
            out[i] = 0.5 * i;
        MPI_Send(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(out)
    } else if (rank == 1) {
        MPI_Recv(out, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(out)
        sum = out[1];
    }
    free(out);
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
