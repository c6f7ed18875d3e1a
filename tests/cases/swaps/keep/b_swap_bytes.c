/* An index that one buffer holds chooses the pointer in the struct, before and after the swap. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

struct chosen {
    int *index, *other;
    double *b[2];
};

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    static struct chosen c;
    int *now = malloc(N * sizeof(int)), *next = malloc(N * sizeof(int));
    MPI_Request rq;
    for (int i = 0; i < N; i++) {
        now[i] = rank;
        next[i] = 0;
    }
    c.index = now;
    c.other = next;
    c.b[0] = malloc(N * sizeof(double));
    c.b[1] = malloc(N * sizeof(double));
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < N; i++)
            c.b[c.index[0]][i] = u[i] + step;
        MPI_Irecv(c.other, N, MPI_INT, peer, 1, MPI_COMM_WORLD, &rq); //~ keep
        MPI_Send(c.index, N, MPI_INT, peer, 1, MPI_COMM_WORLD); //~ keep
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        int *t = c.index;
        c.index = c.other;
        c.other = t;
        MPI_Sendrecv(c.b[1 - c.index[0]], N, MPI_DOUBLE, peer, 2, v, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(c.b[1 - c.index[0]])
        v[0] += c.b[1 - c.index[0]][1];
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(c.index);
    free(c.other);
    free(c.b[0]);
    free(c.b[1]);
    MPI_Finalize();
    return 0;
}
