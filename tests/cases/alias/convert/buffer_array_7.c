/* Requests of the rows of an array are numbered as they are posted; the number is set back after the wait. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 4

int main(int argc, char **argv)
{
    int me, size, n = 300, count = 0;
    double *in[ROWS], *out[ROWS], sum = 0.0;
    int peer[ROWS];
    MPI_Request rq[ROWS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int d = 0; d < ROWS; d++) {
        in[d] = malloc(n * sizeof(double));
        out[d] = malloc(n * sizeof(double));
        peer[d] = d != 1 && size == 2 ? 1 - me : -1;
    }
    for (int round = 0; round < 3; round++) {
        for (int d = 0; d < ROWS; d++)
            if (peer[d] != -1)
                MPI_Irecv(in[d], n, MPI_DOUBLE, peer[d], d, MPI_COMM_WORLD, &rq[count++]); //~ take(in[d])
        for (int d = 0; d < ROWS; d++)
            if (peer[d] != -1) {
                for (int i = 0; i < n; i++)
                    out[d][i] = round + me + 0.5 * i + d;
                MPI_Send(out[d], n, MPI_DOUBLE, peer[d], d, MPI_COMM_WORLD); //~ give(out[d])
            }
        MPI_Waitall(count, rq, MPI_STATUSES_IGNORE);
        count = 0;
        for (int d = 0; d < ROWS; d++)
            if (peer[d] != -1)
                for (int i = 0; i < n; i++)
                    sum += in[d][i] * (i + d + 1);
    }
    printf("%d: %.17g\n", me, sum);
    for (int d = 0; d < ROWS; d++) {
        free(in[d]);
        free(out[d]);
    }
    MPI_Finalize();
    return 0;
}
