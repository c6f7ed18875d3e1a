/* The function keeps the address, too. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2000

typedef struct {
    int n, rank, peer;
    double *u, *out, *in, *spare;
} Mesh;

static double total;

static double *all[8];
static int many;

static void allocate(double **p, size_t n)
{
    (void)__func__; /* no other function has this text */
    *p = malloc(n * sizeof **p);
    all[many++] = *p;
}

static void init(Mesh *m, int n)
{
    m->n = n;
    m->spare = NULL;
    allocate(&m->u, n);
    allocate(&m->out, n);
    allocate(&m->in, n);
}

static void exchange(Mesh *m, int step)
{
    MPI_Request rq[2];
    for (int i = 0; i < m->n; i++)
        m->out[i] = m->u[i] + step;
    MPI_Irecv(m->in, m->n, MPI_DOUBLE, m->peer, 7, MPI_COMM_WORLD, &rq[0]); //~ keep(m->in)
    MPI_Isend(m->out, m->n, MPI_DOUBLE, m->peer, 7, MPI_COMM_WORLD, &rq[1]); //~ keep(m->out)
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
    for (int i = 0; i < m->n; i++)
        m->u[i] += m->in[i];
    m->u[1] += all[1][3];
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
