/* Vector loops, and a count by several threads. */
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
    int large = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 2 * i;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
#pragma omp simd
            for (int i = 0; i < N; i++)
                out[i] = u[i] + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
#pragma omp parallel for reduction(+ : large) num_threads(2)
            for (int i = 0; i < N; i++) {
                if (in[i] > 100.0)
                    large++;
#pragma omp atomic
                total += in[i];
            }
            total += large;
            large = 0;
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
