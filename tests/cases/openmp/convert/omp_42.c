/* Each thread of a region has memory of its own for a while. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static double u[N], in[N], out[N];

//~ flags -fopenmp

static double of(int n)
{
    double *own = malloc(n * sizeof(double)), sum = 0.0;
    if (own == NULL)
        exit(1);
    for (int i = 0; i < n; i++)
        own[i] = 0.5 * i;
    for (int i = 0; i < n; i++)
        sum += own[i];
    free(own);
    return sum;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0, sums = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 2 * i;
    for (int step = 0; step < 3; step++) {
#pragma omp parallel num_threads(2) reduction(+ : sums) default(shared)
        {
            double mine[4];
            for (int i = 0; i < 4; i++)
                mine[i] = of(100 + i);
            for (int i = 0; i < 4; i++)
                sums += mine[i];
        }
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = u[i] + step + sums;
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
