/* One of the ways to the wait takes a request back from those that it is for. */
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
        if (argc < 8)
            MPI_Irecv(b, N, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &rq[k++]);
        if (argc < 7)
            MPI_Issend(out, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &rq[k++]); //~ keep OPI107
        MPI_Send(zero, N, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD);
        if (argc < 5)
            k--;
        MPI_Waitall(k, rq, MPI_STATUSES_IGNORE);
        MPI_Send(out, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD); //~ keep OPI106
        MPI_Recv(a, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(c, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (argc < 5)
            MPI_Waitall(1, rq + k, MPI_STATUSES_IGNORE);
        free(out);
        for (int i = 0; i < N; i++)
            total += a[i] + 2.0 * b[i] + c[i] * (i + 1);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
