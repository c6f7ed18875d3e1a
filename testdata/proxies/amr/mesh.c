/* Which blocks there are, who owns them, and which touch. */
#include "amr.h"

#include <math.h>
#include <stdlib.h>

/* Blocks near a circle are fine. */
static int is_fine(int roots, int x, int y)
{
    double dx = (x + 0.5) / roots - 0.5, dy = (y + 0.5) / roots - 0.5;
    return fabs(sqrt(dx * dx + dy * dy) - 0.3) < 0.75 / roots + 0.02;
}

/* A coarse block (x, y), along a curve that keeps neighbours near one another. */
static long place_on_curve(int x, int y)
{
    long z = 0;
    for (int bit = 0; bit < 12; bit++)
        z |= (long)(x >> bit & 1) << (2 * bit) | (long)(y >> bit & 1) << (2 * bit + 1);
    return z;
}

static int by_place(const void *a, const void *b)
{
    const block *p = a, *q = b;
    long u = place_on_curve(p->x >> p->level, p->y >> p->level), v = place_on_curve(q->x >> q->level, q->y >> q->level);
    if (u != v)
        return u < v ? -1 : 1;
    long i = place_on_curve(p->x, p->y), j = place_on_curve(q->x, q->y);
    return (i > j) - (i < j);
}

/* The block of a level at a place, or -1; the domain is periodic. */
static int find(const mesh *m, const int *index, int level, int x, int y)
{
    int n = m->roots << level;
    x = (x + n) % n;
    y = (y + n) % n;
    return index[(size_t)level * 4 * m->roots * m->roots + (size_t)x * n + y];
}

static void add_contact(mesh *m, int i, int other, int side, int first, int cells)
{
    contact *c = &m->contacts[m->ncontact++];
    c->block = i;
    c->other = other;
    c->side = side;
    c->first = first;
    c->cells = cells;
    c->fine = m->blocks[i].level;
    c->other_fine = m->blocks[other].level;
    c->ghosts = cells << c->other_fine >> c->fine;
    c->ghost = room((size_t)c->ghosts * NVAR, sizeof(double));
}

static void find_contacts(mesh *m, const int *index, int i)
{
    static const int dx[NSIDE] = { -1, 1, 0, 0 }, dy[NSIDE] = { 0, 0, -1, 1 };
    const block *b = &m->blocks[i];

    for (int side = 0; side < NSIDE; side++) {
        int x = b->x + dx[side], y = b->y + dy[side];
        int same = find(m, index, b->level, x, y);
        if (same >= 0) {
            add_contact(m, i, same, side, 0, EDGE);
        } else if (b->level == 0) {
            for (int half = 0; half < 2; half++) {
                int fx = side < 2 ? 2 * x + (side == 0) : 2 * x + half;
                int fy = side < 2 ? 2 * y + half : 2 * y + (side == 2);
                add_contact(m, i, find(m, index, 1, fx, fy), side, half * EDGE / 2, EDGE / 2);
            }
        } else {
            add_contact(m, i, find(m, index, 0, (x + 2 * m->roots) / 2, (y + 2 * m->roots) / 2), side, 0, EDGE);
        }
    }
}

void mesh_make(mesh *m, int roots)
{
    size_t places = 4 * (size_t)roots * roots;
    int *index = room(2 * places, sizeof *index);
    m->roots = roots;
    m->blocks = room(places, sizeof *m->blocks);
    m->nblock = 0;
    for (int x = 0; x < roots; x++)
        for (int y = 0; y < roots; y++) {
            int level = is_fine(roots, x, y);
            for (int part = 0; part < (level ? 4 : 1); part++) {
                block *b = &m->blocks[m->nblock++];
                b->level = level;
                b->x = level ? 2 * x + part / 2 : x;
                b->y = level ? 2 * y + part % 2 : y;
            }
        }
    qsort(m->blocks, (size_t)m->nblock, sizeof *m->blocks, by_place);
    for (size_t k = 0; k < 2 * places; k++)
        index[k] = -1;
    for (int i = 0; i < m->nblock; i++) {
        block *b = &m->blocks[i];
        int n = roots << b->level;
        index[(size_t)b->level * places + (size_t)b->x * n + b->y] = i;
        b->owner = (int)((long)i * m->size / m->nblock);
        b->u = b->next = NULL;
        if (b->owner == m->rank) {
            b->u = room(EDGE * EDGE * NVAR, sizeof(double));
            b->next = room(EDGE * EDGE * NVAR, sizeof(double));
        }
    }
    m->contacts = room(2 * NSIDE * (size_t)m->nblock, sizeof *m->contacts);
    m->ncontact = 0;
    for (int i = 0; i < m->nblock; i++)
        if (m->blocks[i].owner == m->rank)
            find_contacts(m, index, i);
    free(index);
}

void mesh_free(mesh *m)
{
    for (int i = 0; i < m->nblock; i++) {
        free(m->blocks[i].u);
        free(m->blocks[i].next);
    }
    for (int k = 0; k < m->ncontact; k++)
        free(m->contacts[k].ghost);
    free(m->contacts);
    free(m->blocks);
}
