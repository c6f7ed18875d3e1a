/* The function need not set the pointer, which stands for the message then. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2000

typedef struct {
    int n, rank, peer;
    double *u, *out, *in, *spare;
} Mesh;

static double total;

static void allocate(double **p, int n)
{
    if (n > 10)
        *p = malloc(n * sizeof **p);
}

static void init(Mesh *m, int n)
{
    m->n = n;
    m->spare = NULL;
    m->out = malloc(n * sizeof *m->out);
    m->in = malloc(n * sizeof *m->in);
    allocate(&m->u, n);
}

static void exchange(Mesh *m, int step)
{
    MPI_Request rq[2];
    for (int i = 0; i < m->n; i++)
        m->out[i] = m->u[i] + step;
    MPI_Irecv(m->in, m->n, MPI_DOUBLE, m->peer, 7, MPI_COMM_WORLD, &rq[0]); //~ take(m->in)
    MPI_Isend(m->out, m->n, MPI_DOUBLE, m->peer, 7, MPI_COMM_WORLD, &rq[1]); //~ keep(m->out) OPI105
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
    for (int i = 0; i < m->n; i++)
        m->u[i] += m->in[i];
    m->spare = m->out;
    allocate(&m->spare, m->rank);
    m->u[1] += m->spare[3];
}

int main(int argc, char **argv)
{
    Mesh mesh;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &mesh.rank);
    mesh.peer = 1 - mesh.rank;
    if (mesh.rank < 2) {
        init(&mesh, N + argc);
        for (int i = 0; i < mesh.n; i++)
            mesh.u[i] = mesh.rank + i;
        for (int step = 0; step < 3; step++)
            exchange(&mesh, step);
        for (int i = 0; i < mesh.n; i++)
            total += mesh.u[i] * (i + 1);
        printf("%d: %.17g\n", mesh.rank, total);
        free(mesh.u);
        free(mesh.out);
        free(mesh.in);
    }
    MPI_Finalize();
    return 0;
}
