/* What frees the memory is given the address of its pointer. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define PARTS 3
#define N 600

static double u[N], v[N];
static int first[PARTS + 1] = { 0, 150, 320, N };

static void release(double **p)
{
    free(*p);
    *p = NULL;
}

static void exchange(int rank, int step)
{
    if (rank == 0) {
        double *out = malloc(first[PARTS] * sizeof(double));

        if (!out)
            exit(1);
        for (int k = 0; k < PARTS; k++) {
            for (int i = first[k]; i < first[k + 1]; i++)
                out[i] = u[i] + step;
            MPI_Send(&out[first[k]], first[k + 1] - first[k], MPI_DOUBLE, 1, k, MPI_COMM_WORLD); //~ give(out)
        }
        release(&out);
    } else {
        for (int k = 0; k < PARTS; k++)
            MPI_Recv(&v[first[k]], first[k + 1] - first[k], MPI_DOUBLE, 0, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 4; step++)
        if (rank < 2)
            exchange(rank, step);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
