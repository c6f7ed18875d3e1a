/* A reduction by `min` in a program whose macro of that name takes arguments; a macro of two definitions. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000
#define min(a, b) (((a) < (b)) ? (a) : (b))

static double u[N], in[N], out[N];

//~ flags -fopenmp
static double least(const double *from, int n)
{
    double low = 1e9;
#pragma omp parallel for reduction(min : low)
    for (int i = 0; i < n; i++)
        low = min(low, from[i]);
    return low;
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
            for (int i = 0; i < N; i++)
                out[i] = u[i] + step;
            total += least(out, N);
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            total += least(in, N);
            for (int i = 0; i < N; i++)
                total += in[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
