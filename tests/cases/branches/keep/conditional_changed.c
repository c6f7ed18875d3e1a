/* As convert/conditional_14.c; whom the condition is about changes between the two. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *input(int n)
{
    double *t = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++)
        t[i] = 0.5 * i;
    return t;
}

int main(int argc, char **argv)
{
    int rank, n = 2048;
    double total = 0.0, *a;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        a = input(n);
    else
        a = malloc(n * sizeof(double));
    if (rank == 0)
        MPI_Send(a, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep OPI101
    else {
        if (rank != 1)
            goto end;
        MPI_Recv(a, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    end:;
    }
    rank = rank / 2 + 1;
    if (rank == 1)
        for (int i = 0; i < n; i++)
            total += a[i] * (i + 1);
    free(a);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
