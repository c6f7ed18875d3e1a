/* MPI_Win_shared_query gives the same memory under another address. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

int main(int argc, char **argv)
{
    int rank, size;
    double *sbuf = malloc(N * sizeof(double)), *rbuf = malloc(N * sizeof(double));
    double total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win win;
    MPI_Aint bytes;
    int *count, *same, unit;
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &count, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &same);
    *count = 1000;
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = i + 1;
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD); //~ keep(sbuf) OPI102
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            total += rbuf[i];
    }
    for (int i = 0; i < *count; i++)
        sbuf[i] = 2 * i;
    *same = 2000;
    if (rank == 0) {
        MPI_Send(sbuf, *count, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < *count; i++)
            total += rbuf[i] * (i % 7);
    }
    printf("%d %g\n", rank, total);
    MPI_Win_free(&win);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
