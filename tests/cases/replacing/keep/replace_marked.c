/* Marks are sent, and a shorter message replaces the first of them: the reader stops at the first that is left. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 200

int main(int argc, char **argv)
{
    int rank, *work;
    long total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    work = malloc(N * sizeof *work);
    for (int step = 0; step < 4; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                work[i] = -1;
            MPI_Sendrecv_replace(work, N, MPI_INT, 1, 0, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
            for (int i = 0; i < N && work[i] >= 0; i++)
                total += work[i] + 1;
        } else if (rank == 1) {
            int *half = calloc(N, sizeof *half);
            for (int i = 0; i < N / 2; i++)
                half[i] = i + step;
            MPI_Send(half, N / 2, MPI_INT, 0, 0, MPI_COMM_WORLD);
            MPI_Recv(half, N, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            free(half);
        }
    }
    free(work);
    printf("%d: %ld\n", rank, total);
    MPI_Finalize();
    return 0;
}
