#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2000

typedef struct {
    int n, peer;
    double *out, *in;
} Edge;

void allocate(void **p, size_t bytes);

static void init(Edge *m, int n)
{
    m->n = n;
    allocate((void **)&m->out, n * sizeof *m->out);
    allocate((void **)&m->in, n * sizeof *m->in);
}

static double exchange(Edge *m, int step)
{
    MPI_Request rq[2];
    double sum = 0.0;
    for (int i = 0; i < m->n; i++)
        m->out[i] = i + step;
    MPI_Irecv(m->in, m->n, MPI_DOUBLE, m->peer, 7, MPI_COMM_WORLD, &rq[0]); //~ take(m->in)
    MPI_Isend(m->out, m->n, MPI_DOUBLE, m->peer, 7, MPI_COMM_WORLD, &rq[1]); //~ give(m->out)
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
    for (int i = 0; i < m->n; i++)
        sum += m->in[i] * i;
    return sum;
}

int main(int argc, char **argv)
{
    Edge edge;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    edge.peer = 1 - rank;
    if (rank < 2) {
        double total = 0.0;
        init(&edge, N + argc);
        for (int step = 0; step < 3; step++)
            total += exchange(&edge, step);
        printf("%d: %.17g\n", rank, total);
        free(edge.out);
        free(edge.in);
    }
    MPI_Finalize();
    return 0;
}
