/* Directives that are not followed stand in text that is left out: by a macro, by nobody, without OpenMP. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static double u[N], in[N], out[N];
static int count;
#ifdef EACH_THREAD
#pragma omp threadprivate(u, in, out, count)
#endif

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
#ifdef EACH_THREAD
#pragma omp task
#endif
            for (int i = 0; i < N; i++)
                out[i] = u[i] + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
#if 0
#pragma omp critical
#endif
            count++;
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
#ifdef _OPENMP
#pragma omp parallel sections
#endif
#pragma omp parallel for reduction(+ : total)
#ifdef BACKWARDS
            for (int i = N - 1; i >= 0; i--)
#else
            for (int i = 0; i < N; i++)
#endif
                total += in[i] * (i + 1);
        }
    }
    printf("%d: %.17g %d\n", rank, total, count);
    MPI_Finalize();
    return 0;
}
