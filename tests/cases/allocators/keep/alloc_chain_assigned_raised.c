/* The variable with the number of bytes is set, and then raised. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static void *need(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    return p;
}

static double *numbers(int n)
{
    size_t bytes;
    bytes = n * sizeof(double);
    bytes *= N / 8;
    return need(bytes);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *b = numbers(8);
    double *r = numbers(8);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = u[i] + step;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(b)
        } else if (rank == 1) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(r)
            for (int i = 0; i < N; i++)
                v[i] += r[i];
        }
    }
    free(b);
    free(r);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
//~ silent: the memory is the program's own; what the size would be elsewhere is not seen in its run
