/* On some ways the receive gets the block that was worked on before; its end stays where the message is shorter. */
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
    double *mine = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++)
        mine[i] = rank + 0.25 * i;

    for (int t = 0; t < 4; t++) {
        double *out = malloc(N * sizeof(double)), *next;
        MPI_Request request;
        for (int i = 0; i < N; i++)
            out[i] = mine[i] + t;
        if (t % 2 == 0) {
            free(mine);
            next = malloc(N * sizeof(double));
        } else {
            next = mine;
        }
        mine = NULL;
        MPI_Isend(out, t % 2 ? N - 9 : N, MPI_DOUBLE, to, 3, MPI_COMM_WORLD, &request);
        MPI_Recv(next, N, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        total += next[N - 1] + next[t];
        free(out);
        mine = next;
    }

    printf("%d: %.17g\n", rank, total);
    free(mine);
    MPI_Finalize();
    return 0;
}
