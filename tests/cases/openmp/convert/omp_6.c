/* The directives stand under #ifdef; a macro is a number in one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#define CHUNK 64
#define N 3000

static double u[N], in[N], out[N];

//~ flags -fopenmp
static int threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads() > 0;
#else
    return 1;
#endif
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 2 * i;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, CHUNK) if (step > 0)
#endif
            for (int i = 0; i < N; i++)
                out[i] = u[i] + step + threads();
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
