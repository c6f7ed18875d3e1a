/* The first request is waited for between the posts and the waits for any: its row has no turn there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 8

static double u[2048], v[2048], *sbuf[MOST], *rbuf[MOST];

int main(int argc, char **argv)
{
    int rank, parts = 2 + argc % 3, n = 600;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = rank ^ 1;
    MPI_Request rr[MOST], rs[MOST];
    for (int k = 0; k < parts; k++) {
        sbuf[k] = malloc(n * sizeof(double));
        rbuf[k] = malloc(n * sizeof(double));
        for (int i = 0; i < n; i++)
            rbuf[k][i] = 1000 + i;
    }
    for (int i = 0; i < 2048; i++)
        u[i] = rank + 0.5 * i;
    for (int turn = 0; turn < 3; turn++) {
        for (int k = 0; k < parts; k++)
            MPI_Irecv(rbuf[k], n, MPI_DOUBLE, peer, k, MPI_COMM_WORLD, &rr[k]); //~ keep(rbuf[k]) OPI215
        for (int k = 0; k < parts; k++) {
            for (int i = 0; i < n; i++)
                sbuf[k][i] = u[i] * (k + 1) + turn;
            MPI_Isend(sbuf[k], n, MPI_DOUBLE, peer, k, MPI_COMM_WORLD, &rs[k]);
        }
        MPI_Wait(&rr[0], MPI_STATUS_IGNORE);
        for (int k = 0; k < parts; k++) {
            int which;
            MPI_Waitany(parts, rr, &which, MPI_STATUS_IGNORE);
            if (which == MPI_UNDEFINED)
                continue;
            for (int i = 0; i < n; i++)
                v[i] += rbuf[which][i] * (which + 2);
        }
        MPI_Waitall(parts, rs, MPI_STATUSES_IGNORE);
    }
    double total = 0.0;
    for (int i = 0; i < n; i++)
        total += v[i] * (i + 1);
    for (int k = 0; k < parts; k++) {
        free(sbuf[k]);
        free(rbuf[k]);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
