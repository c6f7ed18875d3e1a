/* Forces between all pairs within reach, from a list that is good for some steps. */
#include "md.h"

#include <stdlib.h>

/* Of two atoms of different ranks, or an atom and its image, exactly one side computes the pair. */
static int ours(const atoms *a, int i, int j)
{
    if (j < a->nlocal)
        return i < j;
    const double *x = a->x[i], *y = a->x[j];
    if (y[2] != x[2])
        return y[2] > x[2];
    if (y[1] != x[1])
        return y[1] > x[1];
    return y[0] > x[0];
}

void make_list(const atoms *a, const domain *d, neighbours *l)
{
    const double reach = CUTOFF + SKIN;
    int all = a->nlocal + a->nghost, cells[3];
    double low[3], edge[3];

    for (int k = 0; k < 3; k++) {
        low[k] = d->lo[k] - reach;
        double length = d->hi[k] - d->lo[k] + 2 * reach;
        cells[k] = (int)(length / reach);
        edge[k] = length / cells[k];
    }
    int ncell = cells[0] * cells[1] * cells[2];
    int *head = malloc((size_t)ncell * sizeof *head), *chain = malloc((size_t)all * sizeof *chain);
    int *where = malloc((size_t)all * sizeof *where);
    if (!head || !chain || !where)
        stop("out of memory");
    for (int c = 0; c < ncell; c++)
        head[c] = -1;
    for (int i = all - 1; i >= 0; i--) {
        int at[3];
        for (int k = 0; k < 3; k++) {
            at[k] = (int)((a->x[i][k] - low[k]) / edge[k]);
            at[k] = at[k] < 0 ? 0 : at[k] >= cells[k] ? cells[k] - 1 : at[k];
        }
        where[i] = (at[0] * cells[1] + at[1]) * cells[2] + at[2];
        chain[i] = head[where[i]];
        head[where[i]] = i;
    }
    l->n = 0;
    for (int i = 0; i < a->nlocal; i++) {
        int cx = where[i] / cells[2] / cells[1], cy = where[i] / cells[2] % cells[1], cz = where[i] % cells[2];
        for (int px = cx - 1; px <= cx + 1; px++)
            for (int py = cy - 1; py <= cy + 1; py++)
                for (int pz = cz - 1; pz <= cz + 1; pz++) {
                    if (px < 0 || px >= cells[0] || py < 0 || py >= cells[1] || pz < 0 || pz >= cells[2])
                        continue;
                    for (int j = head[(px * cells[1] + py) * cells[2] + pz]; j >= 0; j = chain[j]) {
                        if (j == i || !ours(a, i, j))
                            continue;
                        double r2 = 0.0;
                        for (int k = 0; k < 3; k++)
                            r2 += (a->x[i][k] - a->x[j][k]) * (a->x[i][k] - a->x[j][k]);
                        if (r2 >= reach * reach)
                            continue;
                        l->pair = grown(l->pair, &l->room, l->n + 1, sizeof *l->pair);
                        l->pair[l->n][0] = i;
                        l->pair[l->n++][1] = j;
                    }
                }
    }
    free(head);
    free(chain);
    free(where);
}

/* Forces on own atoms and on ghosts; returns the energy of these pairs, 0 at the cutoff. */
double forces(atoms *a, const neighbours *l)
{
    const double c6 = 1.0 / (CUTOFF * CUTOFF * CUTOFF * CUTOFF * CUTOFF * CUTOFF);
    const double at_cutoff = 4.0 * (c6 * c6 - c6);
    double energy = 0.0;

    for (int i = 0; i < a->nlocal + a->nghost; i++)
        for (int k = 0; k < 3; k++)
            a->f[i][k] = 0.0;
    for (int p = 0; p < l->n; p++) {
        int i = l->pair[p][0], j = l->pair[p][1];
        double d[3], r2 = 0.0;
        for (int k = 0; k < 3; k++) {
            d[k] = a->x[i][k] - a->x[j][k];
            r2 += d[k] * d[k];
        }
        if (r2 >= CUTOFF * CUTOFF)
            continue;
        double s2 = 1.0 / r2, s6 = s2 * s2 * s2;
        double pull = 48.0 * s6 * (s6 - 0.5) * s2;
        energy += 4.0 * (s6 * s6 - s6) - at_cutoff;
        for (int k = 0; k < 3; k++) {
            a->f[i][k] += pull * d[k];
            a->f[j][k] -= pull * d[k];
        }
    }
    return energy;
}
