/* One buffer holds what goes to all partners, one what comes from them; where
 * each partner's part begins is computed once.  Within a part the contacts stand
 * in the order (lower block, higher block, side of the lower), which both know. */
#include "amr.h"

#include <stdlib.h>

static double *send_buffer, *recv_buffer;
static int *send_offset, *recv_offset;  /* npartner + 1 of each, in doubles */
static contact ***of_partner;           /* their contacts with us */
static int *ncontact_of;
static MPI_Request *requests;

static void key(const contact *c, int k[3])
{
    k[0] = c->block < c->other ? c->block : c->other;
    k[1] = c->block < c->other ? c->other : c->block;
    k[2] = c->block < c->other ? c->side : OTHER(c->side);
}

static int by_key(const void *a, const void *b)
{
    int p[3], q[3];
    key(*(contact *const *)a, p);
    key(*(contact *const *)b, q);
    for (int i = 0; i < 3; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

/* A side's cell number k, from `first`, of a block's own cells. */
static const double *side_cell(const block *b, int side, int k)
{
    int i = side == 0 ? 0 : side == 1 ? EDGE - 1 : k;
    int j = side == 2 ? 0 : side == 3 ? EDGE - 1 : k;
    return &b->u[(i * EDGE + j) * NVAR];
}

void exchange_setup(mesh *m)
{
    int *count = room((size_t)m->size, sizeof *count);
    m->partner = room((size_t)m->size, sizeof *m->partner);
    m->npartner = 0;
    for (int k = 0; k < m->ncontact; k++)
        count[m->blocks[m->contacts[k].other].owner]++;
    send_offset = room((size_t)m->size + 1, sizeof *send_offset);
    recv_offset = room((size_t)m->size + 1, sizeof *recv_offset);
    of_partner = room((size_t)m->size, sizeof *of_partner);
    ncontact_of = room((size_t)m->size, sizeof *ncontact_of);
    requests = room(2 * (size_t)m->size, sizeof *requests);
    for (int r = 0; r < m->size; r++) {
        if (r == m->rank || count[r] == 0)
            continue;
        int p = m->npartner++, n = 0;
        m->partner[p] = r;
        of_partner[p] = room((size_t)count[r], sizeof **of_partner);
        send_offset[p + 1] = send_offset[p];
        recv_offset[p + 1] = recv_offset[p];
        for (int k = 0; k < m->ncontact; k++) {
            contact *c = &m->contacts[k];
            if (m->blocks[c->other].owner != r)
                continue;
            of_partner[p][n++] = c;
            send_offset[p + 1] += c->cells * NVAR;
            recv_offset[p + 1] += c->ghosts * NVAR;
        }
        ncontact_of[p] = n;
        qsort(of_partner[p], (size_t)n, sizeof **of_partner, by_key);
    }
    send_buffer = room((size_t)send_offset[m->npartner], sizeof(double));
    recv_buffer = room((size_t)recv_offset[m->npartner], sizeof(double));
    free(count);
}

void exchange_end(const mesh *m)
{
    for (int p = 0; p < m->npartner; p++)
        free(of_partner[p]);
    free(send_buffer);
    free(recv_buffer);
    free(send_offset);
    free(recv_offset);
    free(of_partner);
    free(ncontact_of);
    free(requests);
}

/* Contacts between two blocks of ours. */
static void copy_own(mesh *m)
{
    for (int k = 0; k < m->ncontact; k++) {
        contact *c = &m->contacts[k];
        const block *from = &m->blocks[c->other];
        if (from->owner != m->rank)
            continue;
        int first = 0;          /* of a coarse neighbour only half a side */
        if (c->fine && !c->other_fine)
            first = (c->side < 2 ? m->blocks[c->block].y & 1 : m->blocks[c->block].x & 1) * EDGE / 2;
        for (int i = 0; i < c->ghosts; i++)
            for (int v = 0; v < NVAR; v++)
                c->ghost[i * NVAR + v] = side_cell(from, OTHER(c->side), first + i)[v];
    }
}

void exchange_faces(mesh *m)
{
    for (int p = 0; p < m->npartner; p++)
        MPI_Irecv(recv_buffer + recv_offset[p], recv_offset[p + 1] - recv_offset[p], MPI_DOUBLE, m->partner[p], 7,
                  m->comm, &requests[p]);
    for (int p = 0; p < m->npartner; p++) {
        double *out = send_buffer + send_offset[p];
        for (int n = 0; n < ncontact_of[p]; n++) {
            const contact *c = of_partner[p][n];
            for (int i = 0; i < c->cells; i++)
                for (int v = 0; v < NVAR; v++)
                    *out++ = side_cell(&m->blocks[c->block], c->side, c->first + i)[v];
        }
        MPI_Isend(send_buffer + send_offset[p], send_offset[p + 1] - send_offset[p], MPI_DOUBLE, m->partner[p], 7,
                  m->comm, &requests[m->npartner + p]);
    }
    copy_own(m);
    MPI_Waitall(2 * m->npartner, requests, MPI_STATUSES_IGNORE);
    for (int p = 0; p < m->npartner; p++) {
        const double *in = recv_buffer + recv_offset[p];
        for (int n = 0; n < ncontact_of[p]; n++) {
            contact *c = of_partner[p][n];
            for (int i = 0; i < c->ghosts * NVAR; i++)
                c->ghost[i] = *in++;
        }
    }
}
