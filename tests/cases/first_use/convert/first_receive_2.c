/* Blocks of several lengths go round; the length comes before the block. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 500

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    double *mine = malloc((N + rank) * sizeof(double));
    for (int i = 0; i < N + rank; i++)
        mine[i] = rank + 0.25 * i;

    int have = N + rank;
    for (int t = 0; t < size; t++) {
        int coming;
        MPI_Request requests[2];
        double *incoming;
        for (int i = 0; i < have; i++)
            total += mine[i] * (i % 5);
        MPI_Isend(&have, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(mine, have, MPI_DOUBLE, to, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Recv(&coming, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        incoming = (double *)malloc(sizeof(double) * coming);
        if (incoming == NULL) {
            fprintf(stderr, "no memory\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        MPI_Recv(incoming, coming, MPI_DOUBLE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(incoming)
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        have = coming;
        free(mine);
        mine = incoming;
    }

    printf("%d: %.17g\n", rank, total);
    free(mine);
    MPI_Finalize();
    return 0;
}
