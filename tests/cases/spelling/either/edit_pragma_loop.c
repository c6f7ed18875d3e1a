/* A loop that does nothing but free goes, unless a pragma stands before it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 500

int main(int argc, char **argv)
{
    int rank;
    static double got[N];
    double *rows[3];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma GCC unroll 3
    for (int d = 0; d < 3; d++)
        rows[d] = malloc(N * sizeof(double));
    for (int d = 0; d < 3; d++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                rows[d][i] = d * i;
            MPI_Send(rows[d], N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(got, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%d %g\n", d, got[N - 1]);
        }
    }
#ifdef __GNUC__
#pragma GCC unroll 3
#endif
    for (int d = 0; d < 3; d++)
        free(rows[d]);
    MPI_Finalize();
    return 0;
}
