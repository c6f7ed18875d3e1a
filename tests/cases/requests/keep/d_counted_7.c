/* The wait is under the same condition as the send, but in the next turn, where it is about something else. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 500

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Request rq = MPI_REQUEST_NULL;
    static double a[N], c[N];
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > 1 && rank < 2) {
        int peer = 1 - rank;
        double *out = malloc(N * sizeof *out);
        for (int i = 0; i < N; i++)
            out[i] = rank + 0.5 * i;
        for (int t = 0; t < 2; t++) {
            if (t < 1)
                MPI_Wait(&rq, MPI_STATUS_IGNORE);
            if (t == 1)
                MPI_Send(out, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD); //~ keep OPI106
            if (t < 1)
                MPI_Issend(out, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &rq); //~ keep OPI107
        }
        MPI_Recv(a, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(c, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        free(out);
        for (int i = 0; i < N; i++)
            total += a[i] + c[i] * (i + 1);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
