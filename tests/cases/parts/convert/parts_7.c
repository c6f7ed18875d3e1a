/* Parts filled and emptied by memcpy, places counted in bytes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 512

static double u[2 * N], v[2 * N];

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    size_t bytes = n * sizeof(double);
    char *sbuf = malloc(2 * bytes);
    char *rbuf = malloc(2 * bytes);
    for (int step = 0; step < 2; step++) {
        MPI_Request rq[4];
        MPI_Irecv(rbuf, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ take(rbuf)
        MPI_Irecv(rbuf + bytes, n, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &rq[1]); //~ take(rbuf + bytes)
        size_t filled = bytes; //~ hole: bytes => bytes - 8
        memcpy(sbuf, u, filled);
        memcpy(sbuf + bytes, u + n, filled);
        MPI_Isend(sbuf, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[2]); //~ give(sbuf)
        MPI_Isend(sbuf + bytes, n, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &rq[3]); //~ give(sbuf + bytes)
        MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);
        memcpy(v, rbuf, bytes);
        memcpy(v + N, rbuf + bytes, bytes);
    }
    double total = 0.0;
    for (int i = 0; i < 2 * N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
//~ points 4
