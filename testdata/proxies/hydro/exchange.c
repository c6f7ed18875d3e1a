/* Ghost cells: a message to each of the 6 faces, 12 edges and 8 corners holds all fields. */
#include "hydro.h"

#include <stdlib.h>

static double *to[NDIR], *from[NDIR];
static int cells[NDIR];         /* of the face, the edge, or the corner */

/* The cells along one dimension that a message in that direction holds, or the ghosts it fills there. */
static void range(int direction, int n, int ghosts, int *first, int *last)
{
    *first = 1;
    *last = n;
    if (direction < 0)
        *first = *last = ghosts ? 0 : 1;
    if (direction > 0)
        *first = *last = ghosts ? n + 1 : n;
}

void exchange_setup(brick *b)
{
    for (int d = 0; d < NDIR; d++) {
        int step[3] = { d / 9 - 1, d / 3 % 3 - 1, d % 3 - 1 }, at[3];
        cells[d] = 1;
        for (int k = 0; k < 3; k++) {
            at[k] = (b->place[k] + step[k] + b->grid[k]) % b->grid[k];
            if (step[k] == 0)
                cells[d] *= b->n[k];
        }
        b->neighbour[d] = (at[0] * b->grid[1] + at[1]) * b->grid[2] + at[2];
        to[d] = malloc((size_t)cells[d] * NFIELD * sizeof(double));
        from[d] = malloc((size_t)cells[d] * NFIELD * sizeof(double));
        if (!to[d] || !from[d])
            stop("out of memory");
    }
}

void exchange_end(void)
{
    for (int d = 0; d < NDIR; d++) {
        free(to[d]);
        free(from[d]);
    }
}

static void pack(const brick *b, int d, double *buf)
{
    int lo[3], hi[3], step[3] = { d / 9 - 1, d / 3 % 3 - 1, d % 3 - 1 };
    for (int k = 0; k < 3; k++)
        range(step[k], b->n[k], 0, &lo[k], &hi[k]);
    for (int f = 0; f < NFIELD; f++)
        for (int i = lo[0]; i <= hi[0]; i++)
            for (int j = lo[1]; j <= hi[1]; j++)
                for (int k = lo[2]; k <= hi[2]; k++)
                    *buf++ = b->field[f][CELL(b, i, j, k)];
}

static void unpack(brick *b, int d, const double *buf)
{
    int lo[3], hi[3], step[3] = { d / 9 - 1, d / 3 % 3 - 1, d % 3 - 1 };
    for (int k = 0; k < 3; k++)
        range(step[k], b->n[k], 1, &lo[k], &hi[k]);
    for (int f = 0; f < NFIELD; f++)
        for (int i = lo[0]; i <= hi[0]; i++)
            for (int j = lo[1]; j <= hi[1]; j++)
                for (int k = lo[2]; k <= hi[2]; k++)
                    b->field[f][CELL(b, i, j, k)] = *buf++;
}

void exchange_ghosts(brick *b)
{
    MPI_Request rq[2 * NDIR];
    int n = 0;

    /* A message's tag is the direction in which it travels; the one from direction d travels the other way. */
    for (int d = 0; d < NDIR; d++)
        if (b->neighbour[d] != b->rank)
            MPI_Irecv(from[d], cells[d] * NFIELD, MPI_DOUBLE, b->neighbour[d], NDIR - 1 - d, b->comm, &rq[n++]);
    for (int d = 0; d < NDIR; d++)
        if (b->neighbour[d] != b->rank) {
            pack(b, d, to[d]);
            MPI_Isend(to[d], cells[d] * NFIELD, MPI_DOUBLE, b->neighbour[d], d, b->comm, &rq[n++]);
        }
    MPI_Waitall(n, rq, MPI_STATUSES_IGNORE);
    for (int d = 0; d < NDIR; d++) {
        if (d == HERE)
            continue;
        if (b->neighbour[d] == b->rank)         /* round the box to ourselves */
            pack(b, NDIR - 1 - d, from[d]);
        unpack(b, d, from[d]);
    }
}
