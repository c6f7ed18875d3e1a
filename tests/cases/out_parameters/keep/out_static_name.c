/* A static variable begins as the address of the pointer that a function sets: more than that function may set it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double *a, *b;
static double **kept = &a;

static void allocate(double **to, size_t n)
{
    *to = malloc(n * sizeof(double));
    if (!*to)
        exit(1);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    allocate(&a, N);
    allocate(&b, N);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            a[i] = 0.5 * i;
        MPI_Send(a, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(a)
        for (int i = 0; i < N; i++)
            total += (*kept)[i];
    } else if (rank == 1) {
        MPI_Recv(b, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            total += b[i] * (i + 1);
    }
    printf("%d: %.17g\n", rank, total);
    free(a);
    free(b);
    MPI_Finalize();
    return 0;
}
