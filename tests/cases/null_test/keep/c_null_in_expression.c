/* What a comparison with NULL finds after the send is counted. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank, count = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        double *p = malloc(N * sizeof(double));
        for (int i = 0; i < N; i++)
            p[i] = 2.0 * u[i];
        MPI_Send(p, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
        count += p != NULL;
    } else if (rank == 1) {
        MPI_Recv(v, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    printf("%d: %d %.17g\n", rank, count, v[5]);
    MPI_Finalize();
    return 0;
}
//~ silent: the pointer is compared, nothing is read
