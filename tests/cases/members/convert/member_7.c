/* A halo exchange as an object: faces with buffers of their own, made once, used every step. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEFT, RIGHT, FACES };

typedef struct {
    int peer, count;
    double *out, *in;
} face_t;

typedef struct {
    int n, steps;
    double *u, *v;
    face_t left, right;
    MPI_Request rq[2 * FACES];
} mesh_t;

static void *get(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

static mesh_t *mesh_create(int n, int steps)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mesh_t *m = get(sizeof *m);
    m->n = n;
    m->steps = steps;
    m->u = get(sizeof(double) * (n + 2) * n);
    m->v = get(sizeof(double) * (n + 2) * n);
    m->left.peer = (rank + size - 1) % size;
    m->right.peer = (rank + 1) % size;
    m->left.count = m->right.count = n;
    m->left.out = get(sizeof(double) * n);
    m->left.in = get(sizeof(double) * n);
    m->right.out = get(sizeof(double) * n);
    m->right.in = get(sizeof(double) * n);
    for (int i = 0; i < (n + 2) * n; i++)
        m->u[i] = m->v[i] = rank + 0.001 * i;
    return m;
}

static void mesh_pack(mesh_t *m)
{
    for (int j = 0; j < m->left.count; j++)
        m->left.out[j] = m->u[m->n + j];
    for (int j = 0; j < m->right.count; j++)
        m->right.out[j] = m->u[m->n * m->n + j];
}

static void mesh_exchange(mesh_t *m)
{
    MPI_Irecv(m->left.in, m->left.count, MPI_DOUBLE, m->left.peer, 1, MPI_COMM_WORLD, &m->rq[0]); //~ take(m->left.in)
    MPI_Irecv(m->right.in, m->right.count, MPI_DOUBLE, m->right.peer, 2, MPI_COMM_WORLD, &m->rq[1]); //~ take(m->right.in)
    mesh_pack(m);
    MPI_Isend(m->left.out, m->left.count, MPI_DOUBLE, m->left.peer, 2, MPI_COMM_WORLD, &m->rq[2]); //~ give(m->left.out)
    MPI_Isend(m->right.out, m->right.count, MPI_DOUBLE, m->right.peer, 1, MPI_COMM_WORLD, &m->rq[3]); //~ give(m->right.out)
    MPI_Waitall(4, m->rq, MPI_STATUSES_IGNORE);
    for (int j = 0; j < m->left.count; j++)
        m->u[j] = m->left.in[j];
    for (int j = 0; j < m->right.count; j++)
        m->u[(m->n + 1) * m->n + j] = m->right.in[j];
}

static double mesh_step(mesh_t *m)
{
    double change = 0.0;
    int n = m->n;
    for (int i = 1; i <= n; i++)
        for (int j = 0; j < n; j++) {
            double old = m->u[i * n + j];
            double new = 0.5 * (m->u[(i - 1) * n + j] + m->u[(i + 1) * n + j]);
            m->v[i * n + j] = new;
            change += (new - old) * (new - old);
        }
    for (int i = n; i < (n + 1) * n; i++)
        m->u[i] = m->v[i];
    return change;
}

static void mesh_destroy(mesh_t *m)
{
    free(m->left.out);
    free(m->left.in);
    free(m->right.out);
    free(m->right.in);
    free(m->u);
    free(m->v);
    free(m);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mesh_t *mesh = mesh_create(64, 5);
    for (int s = 0; s < mesh->steps; s++) {
        mesh_exchange(mesh);
        double change = mesh_step(mesh);
        printf("%d: %d %.17g\n", rank, s, change);
    }
    mesh_destroy(mesh);
    MPI_Finalize();
    return 0;
}
