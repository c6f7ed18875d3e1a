/* What is mapped from a file is in the file. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <fcntl.h>
#define N 4096

int main(int argc, char **argv)
{
    int rank;
    double s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char path[64];
    snprintf(path, sizeof path, "./mapped.%d.%d", (int)getpid(), rank);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, N * sizeof(double)) != 0)
        return 1;
    double *b = mmap(NULL, N * sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *r = malloc(N * sizeof(double)), z = 0;
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = i * k + 1;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(b) OPI402
            if (pread(fd, &z, sizeof z, 80) == sizeof z)
                s += z;
        } else if (rank == 1) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(r)
            for (int i = 0; i < N; i++)
                s += r[i] * (i % 7);
        }
    }
    printf("%d %g\n", rank, s);
    munmap(b, N * sizeof(double));
    free(r);
    close(fd);
    unlink(path);
    MPI_Finalize();
    return 0;
}
//~ silent: the file is read by a system call
