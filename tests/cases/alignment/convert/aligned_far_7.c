/* An allocator of the program promises a page. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 4096

static double *pages(size_t n)
{
    double *p = aligned_alloc(4096, (n + 4095) / 4096 * 4096);
    if (!p)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return p;
}

int main(int argc, char **argv)
{
    int rank;
    double s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *b = pages(N * sizeof(double)), *r = pages(N * sizeof(double));
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = i * k + 1;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(b)
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
