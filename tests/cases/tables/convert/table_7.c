/* Arrays of pointers in a static struct. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define DIRS 4

static struct {
    int peer, n;
    double *out[DIRS], *in[DIRS];
} m;

static void setup(int n, int peer)
{
    for (int d = 0; d < DIRS; d++) {
        m.peer = peer;
        m.n = n;
        m.out[d] = malloc(n * sizeof(double));
        m.in[d] = malloc(n * sizeof(double));
    }
}

static void exchange(double *u)
{
    MPI_Request rq[2 * DIRS];
    for (int d = 0; d < DIRS; d++)
        MPI_Irecv(m.in[d], m.n, MPI_DOUBLE, m.peer, d, MPI_COMM_WORLD, &rq[d]); //~ take(m.in[d])
    for (int d = 0; d < DIRS; d++) {
        for (int i = 0; i < m.n; i++)
            m.out[d][i] = u[i] * (d + 2);
        MPI_Isend(m.out[d], m.n, MPI_DOUBLE, m.peer, d, MPI_COMM_WORLD, &rq[DIRS + d]); //~ give(m.out[d])
    }
    MPI_Waitall(2 * DIRS, rq, MPI_STATUSES_IGNORE);
    for (int d = 0; d < DIRS; d++)
        for (int i = 0; i < m.n; i++)
            u[i] += m.in[d][i] * 0.25;
}

static void finish(void)
{
    for (int d = 0; d < DIRS; d++) {
        free(m.out[d]);
        free(m.in[d]);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = 500;
    double *u = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++)
        u[i] = rank + i;
    setup(n, size - 1 - rank);
    for (int t = 0; t < 3; t++)
        exchange(u);
    finish();
    double s = 0;
    for (int i = 0; i < n; i++)
        s += u[i] * i;
    printf("%d %.17g\n", rank, s);
    free(u);
    MPI_Finalize();
    return 0;
}
