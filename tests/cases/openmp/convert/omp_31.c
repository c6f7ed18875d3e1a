/* Macros in a directive stand for clauses, one in another. */
#include <mpi.h>
#include <stdio.h>

#define N 3000
#define PLAN CHUNKS num_threads(THREADS)
#define CHUNKS schedule(static, 64)
#define THREADS 2

static double in[N], out[N];

//~ flags -fopenmp

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
#pragma omp parallel for PLAN
            for (int i = 0; i < N; i++)
                out[i] = i + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                total += in[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
