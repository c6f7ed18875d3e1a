/* The block has another name when it is sent, which reads it afterwards. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, n = 300;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *a = malloc(n * sizeof *a), *seen = a, s = 0;
    for (int i = 0; i < n; i++)
        a[i] = i + rank;
    if (rank == 0) {
        double *b = malloc(n * sizeof *b);
        for (int i = 0; i < n; i++)
            b[i] = a[i] * 2;
        a = b;
        double *c = a;
        MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep
        for (int i = 0; i < n; i++)
            s += c[i];
    } else if (rank == 1) {
        MPI_Recv(a, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        s = a[n - 1];
    }
    printf("%d %.17g %.17g\n", rank, s, seen[0]);
    free(a);
    MPI_Finalize();
    return 0;
}
