/* A loop takes requests back from those that the wait is for. */
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
        MPI_Issend(out, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &rq[0]); //~ keep OPI107
        rq[1] = MPI_REQUEST_NULL;
        int turn = 0;
        k = 2;
        if (argc < 9) {
            k = 1;
            goto again;
        }
        rq[1] = MPI_REQUEST_NULL;
    again:
        if (turn == 1) {
            MPI_Waitall(k, rq, MPI_STATUSES_IGNORE);
            MPI_Send(out, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD); //~ keep OPI106
        }
        k--;
        if (turn++ < 1)
            goto again;
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
