/* The memory goes, and with it the room that it had: one statement after the test. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 500
int main(int argc, char **argv)
{
    int rank, room = N;
    double total = 0.0, *box = malloc(N * sizeof(double));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            box[i] = 2.0 * i;
        MPI_Send(box, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(box) OPI105
    } else if (rank == 1) {
        MPI_Recv(box, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(box) OPI205
        for (int i = 0; i < N; i++)
            total += box[i] * i;
    }
    if (box != NULL)
        free(box), box = NULL, room = 0;
    printf("%d: %.17g, room for %d\n", rank, total, room);
    MPI_Finalize();
    return 0;
}
