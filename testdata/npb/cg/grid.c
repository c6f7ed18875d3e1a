/* The grid of ranks, and who adds up what with whom. */
#include "cg.h"

/* 0 where the ranks are no power of two, or do not divide the matrix evenly. */
int make_grid(grid_t *g, int n)
{
    g->prows = g->pcols = 1;
    while (g->prows * g->pcols < g->size)
        if (g->pcols == g->prows)
            g->pcols *= 2;
        else
            g->prows *= 2;
    if (g->prows * g->pcols != g->size || n % g->pcols != 0)
        return 0;

    g->prow = g->me / g->pcols;
    g->pcol = g->me % g->pcols;
    g->rows = n / g->prows;
    g->cols = n / g->pcols;
    g->first_row = g->prow * g->rows;
    g->first_col = g->pcol * g->cols;

    /* Twice as many columns: two neighbours share the rows between them. */
    int odd = g->pcols > g->prows ? g->me % 2 : 0;
    g->keep_count = g->cols;
    g->keep_start = odd * g->cols;
    if (g->pcols == g->prows)
        g->swap = g->pcol * g->prows + g->prow;
    else
        g->swap = 2 * (g->me / 2 % g->prows * g->prows + g->me / 2 / g->prows) + odd;

    g->stages = 0;
    for (int width = g->pcols; width > 1; width /= 2) {
        int stage = g->stages++;
        int other = (g->pcol + width / 2) % width + g->pcol / width * width;
        g->partner[stage] = g->prow * g->pcols + other;
        g->send_start[stage] = g->keep_start;
        g->send_count[stage] = g->recv_count[stage] = g->keep_count;
    }
    /* The first sum is made with the neighbour whose half it is, so that it
     * halves what is left to add. */
    if (g->pcols > g->prows && g->stages > 0)
        g->send_start[g->stages - 1] = g->cols - g->keep_start;
    return 1;
}
