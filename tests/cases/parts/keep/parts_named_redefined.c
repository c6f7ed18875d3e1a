/* A name in the sum that a subscript was set to is a macro where the subscript is used. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 300
#define SIDES 3

static double u[N], v[SIDES * N], sbuf[SIDES * N], rbuf[SIDES * N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    MPI_Request rq[2 * SIDES];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++) {
        for (int d = 0; d < SIDES; d++)
            MPI_Irecv(&rbuf[d * N], N, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, &rq[d]); //~ keep(rbuf)
        for (int d = 0; d < SIDES; d++) {
            for (int i = 0; i < N; i++)
                sbuf[d * N + i] = u[i] * (d + 1) + step;
            MPI_Isend(&sbuf[d * N], N, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, &rq[SIDES + d]);
        }
        MPI_Waitall(2 * SIDES, rq, MPI_STATUSES_IGNORE);
        for (int d = 0; d < SIDES; d++)
            for (int i = 0; i < N; i++) {
                const int here = i + N * d;
#define d 1
                v[here] += rbuf[here] + d;
#undef d
            }
    }
    for (int i = 0; i < SIDES * N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
