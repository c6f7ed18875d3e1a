/* The function that tells whether there is memory hands out one block again and again. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1200

static double u[N], *spare;

static int get(double **to, size_t bytes)
{
    if (spare == NULL)
        spare = malloc(bytes);
    *to = spare;
    return *to == NULL;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0, *out, *in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (get(&out, N * sizeof(double)))
        exit(1);
    if (get(&in, N * sizeof(double)))
        exit(1);
    for (int i = 0; i < N; i++)
        in[i] = rank + i;
    if (rank == 0)
        MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
    else if (rank == 1)
        MPI_Recv(out, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++) {
        u[i] = in[i];
        total += u[i] * (i + 1);
    }
    printf("%d: %.17g\n", rank, total);
    free(spare);
    MPI_Finalize();
    return 0;
}
