/* Memory aligned to as much as a taken buffer is, or less. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 4096

int main(int argc, char **argv)
{
    int rank;
    double s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *b = aligned_alloc(64, N * sizeof(double)), *r = aligned_alloc(32, N * sizeof(double));
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = i * k + 1;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                s += r[i] * (i % 7);
        }
    }
    printf("%d %g\n", rank, s);
    free(b);
    free(r);
    MPI_Finalize();
    return 0;
}
