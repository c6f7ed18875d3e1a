/* Each thread of a region takes its part away from a number. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static double u[N], in[N], out[N];

//~ flags -fopenmp

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    int k;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 2 * i;
    for (int i = 0; i < N; i++)
        out[i] = u[i];
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            k = 2 * N;
#pragma omp parallel num_threads(2) reduction(- : k)
            {
                k -= N;
            }
            for (int i = 0; i < k; i++)
                out[i] = u[i] + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out)
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                total += in[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
