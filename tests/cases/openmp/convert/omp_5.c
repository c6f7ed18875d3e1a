/* The packing loop is in a function, whose region names all that it shares. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static double u[N];

//~ flags -fopenmp
static void pack(double *to, const double *from, int step)
{
#pragma omp parallel for default(none) shared(to, from) \
    firstprivate(step)
    for (int i = 0; i < N; i++)
        to[i] = from[i] + step;
}

static double sum(const double *from)
{
    double s = 0.0;
    int i;
#pragma omp parallel
    {
#pragma omp for reduction(+ : s)
        for (i = 0; i < N; i++)
            s += from[i] * i;
    }
    return s;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    double *in = malloc(N * sizeof *in), *out = malloc(N * sizeof *out);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 2 * i;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            pack(out, u, step);
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            total += sum(in);
        }
    }
    free(in);
    free(out);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
