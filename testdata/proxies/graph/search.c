/* Level by level: the edges of a frontier give the next one. */
#include "graph.h"

void visit(graph *g, long vertex, int level)
{
    long i = vertex - g->first;
    if (g->level[i] < 0) {
        g->level[i] = level;
        g->next[g->nnext++] = vertex;
    }
}

void search(graph *g, long root)
{
    long reached = 1;

    for (long i = 0; i < g->count; i++)
        g->level[i] = -1;
    g->nnext = 0;
    if (root / g->block == g->rank)
        visit(g, root, 0);
    for (int level = 1; reached > 0; level++) {
        long *swap = g->frontier;
        g->frontier = g->next;
        g->nfrontier = g->nnext;
        g->next = swap;
        g->nnext = 0;

        outbox_begin(g, level);
        for (long f = 0; f < g->nfrontier; f++) {
            const long *edge = &g->edge[(g->frontier[f] - g->first) * DEGREE];
            for (int k = 0; k < DEGREE; k++) {
                int owner = (int)(edge[k] / g->block);
                if (owner == g->rank)
                    visit(g, edge[k], level);
                else
                    outbox_put(g, owner, edge[k]);
            }
        }
        outbox_end(g);
        MPI_Allreduce(&g->nnext, &reached, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
}
