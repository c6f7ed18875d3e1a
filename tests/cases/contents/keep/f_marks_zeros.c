/* A worker fills its buffer with zeros before each receive, and adds up all of it: a message may be shorter. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 64

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        double *work = malloc(ROOM * sizeof *work);
        for (int step = 0; step < 3; step++)
            for (int to = 1; to < size; to++) {
                int n = 10 + 7 * to + step;
                for (int i = 0; i < n; i++)
                    work[i] = i + to + step;
                MPI_Send(work, n, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
            }
        free(work);
    } else {
        double *got = malloc(ROOM * sizeof *got);
        for (int step = 0; step < 3; step++) {
            double sum = 0;
            int n = 0;
            memset(got, 0, ROOM * sizeof *got);
            MPI_Recv(got, ROOM, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(got) OPI210
            for (int i = 0; i < ROOM; i++, n++)
                sum += got[i];
            printf("%d: %d places, %g\n", rank, n, sum);
        }
        free(got);
    }
    MPI_Finalize();
    return 0;
}
