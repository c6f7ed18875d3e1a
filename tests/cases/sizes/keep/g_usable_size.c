/* How much room the C library gave tells the program how much to use. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <malloc.h>
#define N 4096

int main(int argc, char **argv)
{
    int rank;
    double s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *b = malloc(N * sizeof(double)), *r = malloc(N * sizeof(double));
    size_t room = malloc_usable_size(b) / sizeof(double);
    s = room >= N;
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = i * k + 1;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(b) OPI103
        } else if (rank == 1) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(r)
            for (int i = 0; i < N; i++)
                s += r[i] * (i % 7);
        }
    }
    printf("%d %g\n", rank, s);
    free(b);
    free(r);
    MPI_Finalize();
    return 0;
}
//~ silent: the C library is asked, no byte is read
