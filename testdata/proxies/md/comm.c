/* What the ranks tell each other, dimension by dimension: positions go forward to
 * the ghosts, forces on ghosts come back, and from time to time atoms move on to
 * the rank whose brick they are in and the borders are made anew. */
#include "md.h"

#include <stdlib.h>

enum { TAG_POSITION = 10, TAG_FORCE, TAG_COUNT, TAG_BORDER, TAG_MOVE_COUNT, TAG_MOVE };

static double *buf_send, *buf_recv;     /* 4 doubles for each atom */
static atom_record *leave, *arrive;
static int capacity;                    /* atoms that fit */

void buffers_setup(int atoms_at_most)
{
    capacity = atoms_at_most;
    buf_send = malloc(4 * (size_t)capacity * sizeof(double));
    buf_recv = malloc(4 * (size_t)capacity * sizeof(double));
    leave = malloc((size_t)capacity * sizeof(atom_record));
    arrive = malloc((size_t)capacity * sizeof(atom_record));
    if (!buf_send || !buf_recv || !leave || !arrive)
        stop("out of memory");
}

void buffers_end(void)
{
    free(buf_send);
    free(buf_recv);
    free(leave);
    free(arrive);
}

static int rank_at(const domain *d, int px, int py, int pz)
{
    int x = (px + d->grid[0]) % d->grid[0], y = (py + d->grid[1]) % d->grid[1];
    int z = (pz + d->grid[2]) % d->grid[2];
    return (x * d->grid[1] + y) * d->grid[2] + z;
}

void domain_setup(domain *d, MPI_Comm comm, const double box[3])
{
    d->comm = comm;
    MPI_Comm_rank(comm, &d->rank);
    MPI_Comm_size(comm, &d->size);
    for (int k = 0; k < 3; k++)
        d->grid[k] = 0;
    MPI_Dims_create(d->size, 3, d->grid);
    d->place[2] = d->rank % d->grid[2];
    d->place[1] = d->rank / d->grid[2] % d->grid[1];
    d->place[0] = d->rank / d->grid[2] / d->grid[1];
    for (int k = 0; k < 3; k++) {
        d->box[k] = box[k];
        d->lo[k] = box[k] * d->place[k] / d->grid[k];
        d->hi[k] = box[k] * (d->place[k] + 1) / d->grid[k];
        if (d->hi[k] - d->lo[k] < CUTOFF + SKIN)
            stop("a brick is thinner than the reach of the forces");
        for (int up = 0; up < 2; up++) {
            swap *s = &d->swaps[2 * k + up];
            int step[3] = { 0, 0, 0 };
            step[k] = up ? 1 : -1;
            s->to = rank_at(d, d->place[0] + step[0], d->place[1] + step[1], d->place[2] + step[2]);
            s->from = rank_at(d, d->place[0] - step[0], d->place[1] - step[1], d->place[2] - step[2]);
            s->dim = k;
            s->up = up;
            s->shift = 0.0;
            if (up && d->place[k] == d->grid[k] - 1)
                s->shift = -box[k];
            if (!up && d->place[k] == 0)
                s->shift = box[k];
            s->list = NULL;
            s->room = 0;
        }
    }
}

void domain_end(domain *d)
{
    for (int k = 0; k < NSWAP; k++)
        free(d->swaps[k].list);
}

static int pack_positions(const swap *s, const atoms *a, double *buf)
{
    int m = 0;
    for (int k = 0; k < s->nsend; k++) {
        const double *x = a->x[s->list[k]];
        for (int c = 0; c < 3; c++)
            buf[m++] = c == s->dim ? x[c] + s->shift : x[c];
    }
    return m;
}

void send_positions(const domain *d, atoms *a)
{
    MPI_Request request;

    for (int k = 0; k < NSWAP; k++) {
        const swap *s = &d->swaps[k];
        if (s->to == d->rank) {         /* the brick is its own neighbour */
            pack_positions(s, a, a->x[s->first]);
            continue;
        }
        MPI_Irecv(buf_recv, 3 * s->nrecv, MPI_DOUBLE, s->from, TAG_POSITION, d->comm, &request);
        int m = pack_positions(s, a, buf_send);
        MPI_Send(buf_send, m, MPI_DOUBLE, s->to, TAG_POSITION, d->comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        m = 0;
        for (int i = s->first; i < s->first + s->nrecv; i++)
            for (int c = 0; c < 3; c++)
                a->x[i][c] = buf_recv[m++];
    }
}

/* The way back, in reverse: a ghost's force is added to that of the atom itself. */
void collect_forces(const domain *d, atoms *a)
{
    MPI_Request request;

    for (int k = NSWAP - 1; k >= 0; k--) {
        const swap *s = &d->swaps[k];
        if (s->to == d->rank) {
            for (int i = 0; i < s->nsend; i++)
                for (int c = 0; c < 3; c++)
                    a->f[s->list[i]][c] += a->f[s->first + i][c];
            continue;
        }
        MPI_Irecv(buf_recv, 3 * s->nsend, MPI_DOUBLE, s->to, TAG_FORCE, d->comm, &request);
        int m = 0;
        for (int i = s->first; i < s->first + s->nrecv; i++)
            for (int c = 0; c < 3; c++)
                buf_send[m++] = a->f[i][c];
        MPI_Send(buf_send, m, MPI_DOUBLE, s->from, TAG_FORCE, d->comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        m = 0;
        for (int i = 0; i < s->nsend; i++)
            for (int c = 0; c < 3; c++)
                a->f[s->list[i]][c] += buf_recv[m++];
    }
}

static void make_room(atoms *a, int needed)
{
    int room = a->room;
    a->x = grown(a->x, &room, needed, sizeof *a->x);
    room = a->room;
    a->v = grown(a->v, &room, needed, sizeof *a->v);
    room = a->room;
    a->f = grown(a->f, &room, needed, sizeof *a->f);
    a->id = grown(a->id, &a->room, needed, sizeof *a->id);
}

static void append_ghosts(swap *s, atoms *a, const double *buf, int n)
{
    s->nrecv = n;
    s->first = a->nlocal + a->nghost;
    make_room(a, s->first + n);
    int m = 0;
    for (int i = s->first; i < s->first + n; i++) {
        for (int c = 0; c < 3; c++)
            a->x[i][c] = buf[m++];
        a->id[i] = (long)buf[m++];
    }
    a->nghost += n;
}

/* Which atoms the neighbours need: those near the face, ghosts of earlier dimensions among them. */
void make_borders(domain *d, atoms *a)
{
    int seen = 0;

    a->nghost = 0;
    for (int k = 0; k < NSWAP; k++) {
        swap *s = &d->swaps[k];
        if (!s->up)             /* both directions of a dimension look at the same atoms */
            seen = a->nlocal + a->nghost;
        int n = 0, m = 0;
        for (int i = 0; i < seen; i++) {
            double x = a->x[i][s->dim];
            if (s->up ? x < d->hi[s->dim] - CUTOFF - SKIN : x > d->lo[s->dim] + CUTOFF + SKIN)
                continue;
            if (n == capacity)
                stop("too many atoms near a face");
            s->list = grown(s->list, &s->room, n + 1, sizeof *s->list);
            s->list[n++] = i;
            for (int c = 0; c < 3; c++)
                buf_send[m++] = c == s->dim ? x + s->shift : a->x[i][c];
            buf_send[m++] = (double)a->id[i];
        }
        s->nsend = n;
        if (s->to == d->rank) {
            append_ghosts(s, a, buf_send, n);
            continue;
        }
        int coming;
        MPI_Sendrecv(&n, 1, MPI_INT, s->to, TAG_COUNT, &coming, 1, MPI_INT, s->from, TAG_COUNT,
                     d->comm, MPI_STATUS_IGNORE);
        if (coming > capacity)
            stop("too many ghosts");
        MPI_Sendrecv(buf_send, m, MPI_DOUBLE, s->to, TAG_BORDER,
                     buf_recv, 4 * coming, MPI_DOUBLE, s->from, TAG_BORDER, d->comm, MPI_STATUS_IGNORE);
        append_ghosts(s, a, buf_recv, coming);
    }
}

static void keep_if_ours(const domain *d, int dim, atoms *a, const atom_record *from, int n)
{
    for (int i = 0; i < n; i++) {
        if (from[i].x[dim] < d->lo[dim] || from[i].x[dim] >= d->hi[dim])
            continue;
        make_room(a, a->nlocal + 1);
        for (int c = 0; c < 3; c++) {
            a->x[a->nlocal][c] = from[i].x[c];
            a->v[a->nlocal][c] = from[i].v[c];
        }
        a->id[a->nlocal++] = from[i].id;
    }
}

/* Atoms that left the brick go to both neighbours of a dimension; the one they belong to keeps them. */
void move_atoms(domain *d, atoms *a)
{
    a->nghost = 0;
    for (int dim = 0; dim < 3; dim++) {
        int leaving = 0, i = 0;
        while (i < a->nlocal) {
            double *x = &a->x[i][dim];
            if (*x < 0.0)
                *x += d->box[dim];
            if (*x >= d->box[dim])
                *x -= d->box[dim];
            if (*x >= d->lo[dim] && *x < d->hi[dim]) {
                i++;
                continue;
            }
            if (leaving == capacity)
                stop("too many atoms leave");
            for (int c = 0; c < 3; c++) {
                leave[leaving].x[c] = a->x[i][c];
                leave[leaving].v[c] = a->v[i][c];
            }
            leave[leaving++].id = a->id[i];
            a->nlocal--;
            for (int c = 0; c < 3; c++) {
                a->x[i][c] = a->x[a->nlocal][c];
                a->v[i][c] = a->v[a->nlocal][c];
            }
            a->id[i] = a->id[a->nlocal];
        }
        if (d->grid[dim] == 1)
            continue;
        for (int up = 0; up < (d->grid[dim] > 2 ? 2 : 1); up++) {
            const swap *s = &d->swaps[2 * dim + up];
            int coming;
            MPI_Sendrecv(&leaving, 1, MPI_INT, s->to, TAG_MOVE_COUNT, &coming, 1, MPI_INT, s->from, TAG_MOVE_COUNT,
                         d->comm, MPI_STATUS_IGNORE);
            if (coming > capacity)
                stop("too many atoms come");
            MPI_Sendrecv(leave, leaving * (int)sizeof(atom_record), MPI_BYTE, s->to, TAG_MOVE,
                         arrive, coming * (int)sizeof(atom_record), MPI_BYTE, s->from, TAG_MOVE,
                         d->comm, MPI_STATUS_IGNORE);
            keep_if_ours(d, dim, a, arrive, coming);
        }
    }
}
