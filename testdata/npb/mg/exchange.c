/* The grid of ranks, and the exchange of ghost faces in six directions: along
 * each axis both faces are packed and sent, the later axes with the ghosts that
 * the earlier ones brought, so that edges and corners come along. */
#include "mg.h"

#include <stdio.h>
#include <stdlib.h>

int rank, size;
int procs[3], coord[3];
level_t levels[MAXLEVEL + 1];

static int neighbour[3][2];     /* along each axis: below and above */
static int face;                /* doubles in the largest face */

/* Messages that travel down (0) and up (1). */
static double *sbuf[2], *rbuf[2];
static MPI_Request request[2];

void *allocate(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) {
        fprintf(stderr, "mg: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

double *new_field(const level_t *l)
{
    size_t count = AT(l, l->n[0] + 1, l->n[1] + 1, l->n[2] + 1) + 1;
    double *u = allocate(count * sizeof *u);
    for (size_t i = 0; i < count; i++)
        u[i] = 0.0;
    return u;
}

static int rank_at(int x, int y, int z)
{
    return (z * procs[1] + y) * procs[0] + x;
}

/* 0 where the ranks cannot share even the coarsest grid, which has two points
 * along each axis. */
int make_grid(int top)
{
    procs[0] = procs[1] = procs[2] = 1;
    for (int axis = 2; axis >= 0; axis--)
        if (procs[0] * procs[1] * procs[2] < size)
            procs[axis] = 2;
    if (procs[0] * procs[1] * procs[2] != size)
        return 0;

    coord[0] = rank % procs[0];
    coord[1] = rank / procs[0] % procs[1];
    coord[2] = rank / (procs[0] * procs[1]);
    for (int axis = 0; axis < 3; axis++)
        for (int dir = 0; dir < 2; dir++) {
            int c[3] = { coord[0], coord[1], coord[2] };
            c[axis] = (c[axis] + (dir ? 1 : procs[axis] - 1)) % procs[axis];
            neighbour[axis][dir] = rank_at(c[0], c[1], c[2]);
        }
    for (int k = 1; k <= top; k++)
        for (int axis = 0; axis < 3; axis++)
            levels[k].n[axis] = (1 << k) / procs[axis];
    return 1;
}

void exchange_init(int top)
{
    const int *n = levels[top].n;
    face = (n[0] + 2) * (n[1] + 2);
    if (face < (n[1] + 2) * (n[2] + 2))
        face = (n[1] + 2) * (n[2] + 2);
    if (face < (n[0] + 2) * (n[2] + 2))
        face = (n[0] + 2) * (n[2] + 2);
    for (int dir = 0; dir < 2; dir++) {
        sbuf[dir] = allocate(face * sizeof(double));
        rbuf[dir] = allocate(face * sizeof(double));
    }
}

void exchange_finish(void)
{
    for (int dir = 0; dir < 2; dir++) {
        free(sbuf[dir]);
        free(rbuf[dir]);
    }
}

/* What travels in direction dir comes from the other side. */
static void ready(int axis, int dir)
{
    MPI_Irecv(rbuf[dir], face, MPI_DOUBLE, neighbour[axis][1 - dir], 2 * axis + dir,
              MPI_COMM_WORLD, &request[dir]);
}

/* The face of points next to a side, or of ghosts beyond it: along the axes that
 * came before with their ghosts. */
static void box(const level_t *l, int axis, int dir, int ghosts, int first[3], int last[3])
{
    for (int a = 0; a < 3; a++) {
        first[a] = a < axis ? 0 : 1;
        last[a] = a < axis ? l->n[a] + 1 : l->n[a];
    }
    if (ghosts)
        first[axis] = dir ? l->n[axis] + 1 : 0;
    else
        first[axis] = dir ? l->n[axis] : 1;
    last[axis] = first[axis];
}

static void give(const level_t *l, const double *u, int axis, int dir)
{
    int count = 0, first[3], last[3];

    box(l, axis, dir, 0, first, last);
    for (int k = first[2]; k <= last[2]; k++)
        for (int j = first[1]; j <= last[1]; j++)
            for (int i = first[0]; i <= last[0]; i++)
                sbuf[dir][count++] = u[AT(l, i, j, k)];
    MPI_Send(sbuf[dir], count, MPI_DOUBLE, neighbour[axis][dir], 2 * axis + dir, MPI_COMM_WORLD);
}

static void take(const level_t *l, double *u, int axis, int dir)
{
    int count = 0, first[3], last[3];

    MPI_Wait(&request[dir], MPI_STATUS_IGNORE);
    box(l, axis, 1 - dir, 1, first, last);
    for (int k = first[2]; k <= last[2]; k++)
        for (int j = first[1]; j <= last[1]; j++)
            for (int i = first[0]; i <= last[0]; i++)
                u[AT(l, i, j, k)] = rbuf[dir][count++];
}

/* One rank alone copies its own faces. */
static void wrap(const level_t *l, double *u, int axis)
{
    size_t step = axis == 0 ? 1 : axis == 1 ? AT(l, 0, 1, 0) : AT(l, 0, 0, 1), length = l->n[axis] * step;
    int first[3], last[3];

    box(l, axis, 0, 1, first, last);
    for (int k = first[2]; k <= last[2]; k++)
        for (int j = first[1]; j <= last[1]; j++)
            for (int i = first[0]; i <= last[0]; i++) {
                double *low = u + AT(l, i, j, k);
                low[0] = low[length];
                low[length + step] = low[step];
            }
}

/* Fill the ghosts of u.  Along an axis that is not split a rank of several is
 * its own neighbour. */
void exchange(const level_t *l, double *u)
{
    for (int axis = 0; axis < 3; axis++) {
        if (size == 1) {
            wrap(l, u, axis);
            continue;
        }
        ready(axis, 0);
        ready(axis, 1);
        give(l, u, axis, 1);
        give(l, u, axis, 0);
        take(l, u, axis, 0);
        take(l, u, axis, 1);
    }
}
