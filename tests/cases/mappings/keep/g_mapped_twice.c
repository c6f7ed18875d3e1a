/* Two mappings of one file are one memory. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#define N 4096

int main(int argc, char **argv)
{
    int rank;
    double s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int fd = memfd_create("ring", 0);
    if (ftruncate(fd, N * sizeof(double)) != 0)
        return 1;
    double *b = mmap(NULL, N * sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const double *seen = mmap(NULL, N * sizeof(double), PROT_READ, MAP_SHARED, fd, 0);
    double *r = malloc(N * sizeof(double));
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = i * k + 1;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(b) OPI402
            for (int i = 0; i < N; i++)
                s += seen[i];
        } else if (rank == 1) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(r)
            for (int i = 0; i < N; i++)
                s += r[i] * (i % 7);
        }
    }
    printf("%d %g\n", rank, s);
    munmap(b, N * sizeof(double));
    munmap((void *)seen, N * sizeof(double));
    free(r);
    MPI_Finalize();
    return 0;
}
