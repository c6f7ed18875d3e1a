/* Threads change a number by a built-in atomic operation. */
#include <mpi.h>
#include <stdio.h>

#define N 3000

static double in[N], out[N];
static int count;

//~ flags -fopenmp

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            count = 2 * N;
#pragma omp parallel for
            for (int i = 0; i < 2; i++)
                __sync_fetch_and_sub(&count, N / 2);
            for (int i = 0; i < N; i++)
                out[i] = i + step + count;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out) OPI405
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
