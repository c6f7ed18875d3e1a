/* Cases with more numbers than one, with a number of another type, and after another case. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double c[N];

static void fill(double *x, int k)
{
    for (int i = 0; i < N; i++)
        x[i] = i + k;
}

static double sum(const double *x)
{
    double s = 0.0;
    for (int i = 0; i < N; i++)
        s += x[i] * (i + 1);
    return s;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    unsigned before = rank - 1u;
    fill(a, 1);
    if (rank == 0)
        MPI_Send(a, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep OPI101
    else if (rank == 1)
        MPI_Recv(a, N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    switch (rank) {
    case -1 ... 1:
        total += sum(a);
        break;
    }
    if (rank == 0) {
        fill(b, 2);
        MPI_Send(b, N, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD); //~ keep OPI101
    } else if (rank == 1)
        MPI_Recv(b, N, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    switch (before) {
    case -1:
        total += sum(b);
        break;
    }
    switch (rank) {
    case 1:
        MPI_Recv(c, N, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(c)
        break;
    case 0:
        fill(c, 3);
        MPI_Send(c, N, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); //~ keep OPI101
        break;
    }
    if (rank == 0)
        total += sum(c);
    free(a);
    free(b);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
