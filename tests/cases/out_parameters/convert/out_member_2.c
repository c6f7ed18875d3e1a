/* The function ends the program for want of memory, touches all first, and returns a number nobody wants. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2000

typedef struct {
    int n, rank, peer;
    double *u, *out, *in, *spare;
} Mesh;

static double total;

#define FAIL(...) \
    fprintf(stderr, __VA_ARGS__); \
    exit(EXIT_FAILURE);

static size_t allocate(double **p, size_t n)
{
    *p = (double *)malloc(sizeof(double) * n);
    if (*p == NULL) {
        FAIL("no memory\n");
    }
#pragma omp parallel for
    for (size_t i = 0; i < n; i++)
        (*p)[i] = 0.0;
    return sizeof(double) * n;
}

static void release(double *p)
{
    free(p);
}

static void init(Mesh *m, int n)
{
    m->n = n;
    m->spare = NULL;
    allocate(&m->u, n);
    allocate(&m->out, n);
    allocate(&m->in, n);
    size_t bytes = 0;
    bytes += allocate(&m->spare, 5);
    total += bytes;
}

static void exchange(Mesh *m, int step)
{
    MPI_Request rq[2];
    for (int i = 0; i < m->n; i++)
        m->out[i] = m->u[i] + step;
    MPI_Irecv(m->in, m->n, MPI_DOUBLE, m->peer, 7, MPI_COMM_WORLD, &rq[0]); //~ take(m->in)
    MPI_Isend(m->out, m->n, MPI_DOUBLE, m->peer, 7, MPI_COMM_WORLD, &rq[1]); //~ give(m->out)
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
        release(mesh.u);
        release(mesh.out);
        release(mesh.in);
        release(mesh.spare);
    }
    MPI_Finalize();
    return 0;
}
