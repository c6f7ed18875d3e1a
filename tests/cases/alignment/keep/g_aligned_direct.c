/* Files opened with O_DIRECT want addresses that are multiples of a page. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <unistd.h>
#define N 4096

int main(int argc, char **argv)
{
    int rank;
    double s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *b = aligned_alloc(4096, N * sizeof(double)), *r = aligned_alloc(4096, N * sizeof(double));
    char path[64];
    snprintf(path, sizeof path, "./direct.%d.%d", (int)getpid(), rank);
    int fd = open(path, O_RDWR | O_CREAT | O_DIRECT, 0600);
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = i * k + 1;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(b)
            if (fd >= 0 && write(fd, b, 4096) < 0)
                s = -1;
        } else if (rank == 1) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(r) OPI213
            for (int i = 0; i < N; i++)
                s += r[i] * (i % 7);
        }
    }
    printf("%d %g\n", rank, s);
    if (fd >= 0)
        close(fd);
    unlink(path);
    free(b);
    free(r);
    MPI_Finalize();
    return 0;
}
