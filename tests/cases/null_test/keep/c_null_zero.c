/* A program that ends with 0 where there is no memory has an answer. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *room(size_t n)
{
    double *p = malloc(n);
    if (!p) {
        puts("no memory: nothing to do");
        MPI_Finalize();
        exit(0);
    }
    return p;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x = 0, *b = room((size_t)-1 / (argc < 9 ? 16 : 1 << 20));
    int n = 1000;
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            b[i] = i;
        MPI_Send(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(b)
    } else if (rank == 1) {
        MPI_Recv(b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(b)
        for (int i = 0; i < n; i++)
            x += b[i];
    }
    printf("%d %g\n", rank, x);
    free(b);
    MPI_Finalize();
    return 0;
}
