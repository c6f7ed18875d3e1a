/* The compiler's own header defines the function that allocates, in terms of posix_memalign. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <mm_malloc.h>
int main(int argc, char *argv[])
{
    int rank, size, n = 700;
    double total = 0.0, u[700] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *sbuf = (double *)_mm_malloc(sizeof(double) * n, 64);
    double *rbuf = (double *)_mm_malloc(sizeof(double) * n, 64);
    for (int step = 0; step < 5; step++) {
        for (int i = 0; i < n; i++)
            sbuf[i] = u[i] + rank + i;
        MPI_Sendrecv(sbuf, n, MPI_DOUBLE, (rank + 1) % size, 0, rbuf, n, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(sbuf) take(rbuf)
        for (int i = 0; i < n; i++)
            u[i] += rbuf[i];
    }
    for (int i = 0; i < n; i++)
        total += u[i] * (i % 7);
    printf("%d: %.17g\n", rank, total);
    _mm_free(sbuf);
    _mm_free(rbuf);
    MPI_Finalize();
    return 0;
}
