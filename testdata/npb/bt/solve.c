/* Lines of points along one axis, each a block tridiagonal system: eliminated
 * from cell to cell upwards, then solved from cell to cell downwards.  What the
 * next cell has to know travels in one message for all lines of the cell. */
#include "bt.h"

#include <stdlib.h>

#define BLOCK (NQ * NQ)

/* For every point the block that couples it with the next, after elimination. */
static double *upper[MAXCELLS];

/* Upwards: that block and the right-hand side of each line's last point;
 * downwards: the solution of each line's first point. */
static double *up_in, *up_out, *down_in, *down_out;
static int up_size, down_size;

void solve_init(void)
{
    up_size = longest * longest * (BLOCK + NQ);
    down_size = longest * longest * NQ;

    for (int n = 0; n < width; n++) {
        size_t count = cell_size(&cells[n]) * NQ;
        upper[n] = allocate(count * sizeof(double));
        for (size_t i = 0; i < count; i++)
            upper[n][i] = 0.0;
    }
    up_in = allocate(up_size * sizeof *up_in);
    up_out = allocate(up_size * sizeof *up_out);
    down_in = allocate(down_size * sizeof *down_in);
    down_out = allocate(down_size * sizeof *down_out);
}

void solve_finish(void)
{
    for (int n = 0; n < width; n++)
        free(upper[n]);
    free(up_in);
    free(up_out);
    free(down_in);
    free(down_out);
}

/* Local point t of the line at (p, q) along an axis. */
static size_t at(const cell_t *c, int axis, int p, int q, int t)
{
    return axis == 0 ? AT(c, t, p, q) : axis == 1 ? AT(c, p, t, q) : AT(c, p, q, t);
}

static double *upper_at(int n, int axis, int p, int q, int t)
{
    return upper[n] + at(&cells[n], axis, p, q, t) * NQ;
}

/* The range of lines that are not on the cube's surface. */
static void lines_of(const cell_t *c, int axis, int first[2], int last[2])
{
    interior(c, axis == 0 ? 1 : 0, &first[0], &last[0]);
    interior(c, axis == 2 ? 1 : 2, &first[1], &last[1]);
}

/* How one point's equation depends on the flow at another: sign * dt/2h * A, less dt/h^2 * N. */
static void coupling(int axis, double sign, double dt, const double *u, double m[NQ][NQ])
{
    double a[NQ][NQ], n[NQ][NQ], h = points - 1;

    jacobians(axis, u, a, n);
    for (int r = 0; r < NQ; r++) {
        for (int s = 0; s < NQ; s++)
            m[r][s] = sign * dt * 0.5 * h * a[r][s] - dt * h * h * n[r][s];
        m[r][r] -= dt * h * h * diffusion[axis];
    }
}

/* Eliminate one point: before it lies one whose block and side are given. */
static void eliminate(int axis, double dt, const double *u, size_t stride, const double *before,
                      const double *side_before, double *after, double *side)
{
    double a[NQ][NQ], b[NQ][NQ], c[NQ][NQ], n[NQ][NQ], h = points - 1;

    coupling(axis, -1.0, dt, u - stride, a);
    coupling(axis, 1.0, dt, u + stride, c);
    jacobians(axis, u, b, n);
    for (int r = 0; r < NQ; r++) {
        for (int s = 0; s < NQ; s++) {
            b[r][s] = 2.0 * dt * h * h * n[r][s];
            for (int t = 0; t < NQ; t++)
                b[r][s] -= a[r][t] * before[t * NQ + s];
        }
        b[r][r] += 1.0 + 2.0 * dt * h * h * diffusion[axis];
        for (int t = 0; t < NQ; t++)
            side[r] -= a[r][t] * side_before[t];
    }
    for (int p = 0; p < NQ; p++) {
        double pivot = 1.0 / b[p][p];
        for (int s = p + 1; s < NQ; s++)
            b[p][s] *= pivot;
        for (int s = 0; s < NQ; s++)
            c[p][s] *= pivot;
        side[p] *= pivot;
        for (int r = 0; r < NQ; r++) {
            if (r == p)
                continue;
            double factor = b[r][p];
            for (int s = p + 1; s < NQ; s++)
                b[r][s] -= factor * b[p][s];
            for (int s = 0; s < NQ; s++)
                c[r][s] -= factor * c[p][s];
            side[r] -= factor * side[p];
        }
    }
    for (int r = 0; r < NQ; r++)
        for (int s = 0; s < NQ; s++)
            after[r * NQ + s] = c[r][s];
}

/* Eliminate a cell's lines.  Points on the surface do not change. */
static void eliminate_cell(int n, int axis, double dt)
{
    const cell_t *c = &cells[n];
    int first[2], last[2];

    lines_of(c, axis, first, last);
    for (int q = first[1]; q <= last[1]; q++)
        for (int p = first[0]; p <= last[0]; p++) {
            size_t stride = at(c, axis, p, q, 1) - at(c, axis, p, q, 0);
            for (int t = 0; t < c->n[axis]; t++) {
                size_t here = at(c, axis, p, q, t);
                double *after = upper_at(n, axis, p, q, t);
                int g = c->lo[axis] + t;
                if (g == 0 || g == points - 1)
                    for (int m = 0; m < BLOCK; m++)
                        after[m] = 0.0;
                else
                    eliminate(axis, dt, c->u + here, stride, upper_at(n, axis, p, q, t - 1), c->r + here - stride,
                              after, c->r + here);
            }
        }
}

static int pack_up(int n, int axis)
{
    const cell_t *c = &cells[n];
    int first[2], last[2], count = 0, t = c->n[axis] - 1;

    lines_of(c, axis, first, last);
    for (int q = first[1]; q <= last[1]; q++)
        for (int p = first[0]; p <= last[0]; p++) {
            const double *block = upper_at(n, axis, p, q, t), *side = c->r + at(c, axis, p, q, t);
            for (int m = 0; m < BLOCK; m++)
                up_out[count++] = block[m];
            for (int m = 0; m < NQ; m++)
                up_out[count++] = side[m];
        }
    return count;
}

/* What came goes where a neighbour's points would be. */
static void unpack_up(int n, int axis)
{
    const cell_t *c = &cells[n];
    int first[2], last[2], count = 0;

    lines_of(c, axis, first, last);
    for (int q = first[1]; q <= last[1]; q++)
        for (int p = first[0]; p <= last[0]; p++) {
            double *block = upper_at(n, axis, p, q, -1), *side = c->r + at(c, axis, p, q, -1);
            for (int m = 0; m < BLOCK; m++)
                block[m] = up_in[count++];
            for (int m = 0; m < NQ; m++)
                side[m] = up_in[count++];
        }
}

/* The solution of a cell's lines, from their last points to their first. */
static void substitute_cell(int n, int axis)
{
    const cell_t *c = &cells[n];
    int first[2], last[2];

    lines_of(c, axis, first, last);
    for (int q = first[1]; q <= last[1]; q++)
        for (int p = first[0]; p <= last[0]; p++) {
            size_t stride = at(c, axis, p, q, 1) - at(c, axis, p, q, 0);
            for (int t = c->n[axis] - 1; t >= 0; t--) {
                const double *block = upper_at(n, axis, p, q, t);
                double *x = c->r + at(c, axis, p, q, t);
                const double *next = x + stride;
                for (int r = 0; r < NQ; r++)
                    for (int s = 0; s < NQ; s++)
                        x[r] -= block[r * NQ + s] * next[s];
            }
        }
}

static int pack_down(int n, int axis)
{
    const cell_t *c = &cells[n];
    int first[2], last[2], count = 0;

    lines_of(c, axis, first, last);
    for (int q = first[1]; q <= last[1]; q++)
        for (int p = first[0]; p <= last[0]; p++) {
            const double *x = c->r + at(c, axis, p, q, 0);
            for (int m = 0; m < NQ; m++)
                down_out[count++] = x[m];
        }
    return count;
}

static void unpack_down(int n, int axis)
{
    const cell_t *c = &cells[n];
    int first[2], last[2], count = 0;

    lines_of(c, axis, first, last);
    for (int q = first[1]; q <= last[1]; q++)
        for (int p = first[0]; p <= last[0]; p++) {
            double *x = c->r + at(c, axis, p, q, c->n[axis]);
            for (int m = 0; m < NQ; m++)
                x[m] = down_in[count++];
        }
}

void solve(int axis, double dt)
{
    MPI_Request send = MPI_REQUEST_NULL, recv;

    for (int stage = 0; stage < width; stage++) {
        int n = cell_at[axis][stage];
        if (stage > 0) {
            MPI_Irecv(up_in, up_size, MPI_DOUBLE, neighbour[axis][0], 10 + axis, MPI_COMM_WORLD, &recv);
            MPI_Wait(&recv, MPI_STATUS_IGNORE);
            unpack_up(n, axis);
        }
        eliminate_cell(n, axis, dt);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        if (stage < width - 1) {
            int count = pack_up(n, axis);
            MPI_Isend(up_out, count, MPI_DOUBLE, neighbour[axis][1], 10 + axis, MPI_COMM_WORLD, &send);
        }
    }
    for (int stage = width - 1; stage >= 0; stage--) {
        int n = cell_at[axis][stage];
        if (stage < width - 1) {
            MPI_Irecv(down_in, down_size, MPI_DOUBLE, neighbour[axis][1], 20 + axis, MPI_COMM_WORLD, &recv);
            MPI_Wait(&recv, MPI_STATUS_IGNORE);
            unpack_down(n, axis);
        }
        substitute_cell(n, axis);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        if (stage > 0) {
            int count = pack_down(n, axis);
            MPI_Isend(down_out, count, MPI_DOUBLE, neighbour[axis][0], 20 + axis, MPI_COMM_WORLD, &send);
        }
    }
    MPI_Wait(&send, MPI_STATUS_IGNORE);
}
