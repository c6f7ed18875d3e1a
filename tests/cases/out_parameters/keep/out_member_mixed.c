/* The function that sets the pointer sets a local one, too: its text is that of both. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2000

typedef struct {
    int n, rank, peer;
    double *u, *out, *in, *spare;
} Mesh;

static double total;

static void allocate(double **p, size_t n)
{
    (void)__func__; /* no other function has this text */
    *p = malloc(n * sizeof **p);
}

static void init(Mesh *m, int n)
{
    m->n = n;
    m->spare = NULL;
    double **place = &m->out, *t, sum = 0.0;
    m->u = malloc(n * sizeof *m->u);
    m->in = malloc(n * sizeof *m->in);
    allocate(place, n);
    allocate(&t, 3 * n);
    for (int i = 0; i < 3 * n; i++)
        sum += t[i] = i;
    total += sum;
    free(t);
}

static void exchange(Mesh *m, int step)
{
    MPI_Request rq[2];
    for (int i = 0; i < m->n; i++)
        m->out[i] = m->u[i] + step;
    MPI_Irecv(m->in, m->n, MPI_DOUBLE, m->peer, 7, MPI_COMM_WORLD, &rq[0]); //~ take(m->in)
    MPI_Isend(m->out, m->n, MPI_DOUBLE, m->peer, 7, MPI_COMM_WORLD, &rq[1]); //~ keep(m->out) OPI402
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
    for (int i = 0; i < m->n; i++)
        m->u[i] += m->in[i];
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
