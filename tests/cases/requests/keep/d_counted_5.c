/* The wait in the next turn is for that turn's request, not for the one before. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 500

int main(int argc, char **argv)
{
    int rank, size, k = 0;
    MPI_Request rq[4];
    static double a[N], b[N], c[N], zero[N];
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > 1 && rank < 2) {
        int peer = 1 - rank;
        double *out = malloc(N * sizeof *out);
        for (int i = 0; i < N; i++)
            out[i] = rank + 0.5 * i;
        for (int t = 0; t < 3; t++)
            rq[t] = MPI_REQUEST_NULL;
        for (int t = 0; t < 3; t++) {
            MPI_Wait(&rq[t], MPI_STATUS_IGNORE);
            if (t == 1)
                MPI_Send(out, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD); //~ keep OPI106
            if (t == 0)
                MPI_Issend(out, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &rq[t]); //~ keep OPI107
        }
        MPI_Recv(a, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(c, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Waitall(1, rq, MPI_STATUSES_IGNORE);
        free(out);
        for (int i = 0; i < N; i++)
            total += a[i] + 2.0 * b[i] + c[i] * (i + 1);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
