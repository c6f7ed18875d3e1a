/* Lines of points along one axis, each five scalar pentadiagonal systems: one
 * matrix for the three waves that go with the flow, one for each of the others.
 * Eliminated from cell to cell upwards, then solved from cell to cell
 * downwards.  What the next cell has to know travels in one message for all
 * lines of the cell. */
#include "sp.h"

#include <math.h>
#include <stdlib.h>

#define NM    3                         /* matrices of a line */
#define ABOVE (2 * NM)                  /* what each row keeps: two coefficients of each */
#define UP    (2 * (ABOVE + NQ))        /* numbers of a line in a message upwards */
#define DOWN  (2 * NQ)                  /* and downwards */

/* For every point the coefficients of the next two, after elimination. */
static double *above[MAXCELLS];

/* Upwards: those and the right-hand sides of each line's last two points;
 * downwards: the solution of each line's first two. */
static double *up_in, *up_out, *down_in, *down_out;
static int up_size, down_size;

void solve_init(void)
{
    up_size = longest * longest * UP;
    down_size = longest * longest * DOWN;

    for (int n = 0; n < width; n++) {
        size_t count = cell_size(&cells[n]) / NQ * ABOVE;
        above[n] = allocate(count * sizeof(double));
        for (size_t i = 0; i < count; i++)
            above[n][i] = 0.0;
    }
    up_in = allocate(up_size * sizeof *up_in);
    up_out = allocate(up_size * sizeof *up_out);
    down_in = allocate(down_size * sizeof *down_in);
    down_out = allocate(down_size * sizeof *down_out);
}

void solve_finish(void)
{
    for (int n = 0; n < width; n++)
        free(above[n]);
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

static double *above_at(int n, int axis, int p, int q, int t)
{
    return above[n] + at(&cells[n], axis, p, q, t) / NQ * ABOVE;
}

/* The range of lines that are not on the cube's surface. */
static void lines_of(const cell_t *c, int axis, int first[2], int last[2])
{
    interior(c, axis == 0 ? 1 : 0, &first[0], &last[0]);
    interior(c, axis == 2 ? 1 : 2, &first[1], &last[1]);
}

/* Velocity along an axis, speed of sound, and the strongest diffusion at a point. */
static void speeds(int axis, const double *u, double *v, double *sound, double *strongest)
{
    double s = 1.0 / u[0];
    double q = 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) * s;
    double d = diffusion[axis], c = C3C4 * s;

    *v = u[1 + axis] * s;
    *sound = sqrt(C1 * C2 * s * (u[4] - q));
    *strongest = fmax(fmax(d + 4.0 / 3.0 * c, d + C1C5 * c), fmax(d + c, d));
}

/* The five coefficients of a point in each of the matrices; g is its place. */
static void row(int axis, double dt, const double *u, size_t stride, int g, double m[NM][5])
{
    double h = points - 1, t1 = dt * h * h, t2 = dt * 0.5 * h, smooth = dt * DSSP;
    double v[3], sound[3], strongest[3];

    speeds(axis, u - stride, &v[0], &sound[0], &strongest[0]);
    speeds(axis, u, &v[1], &sound[1], &strongest[1]);
    speeds(axis, u + stride, &v[2], &sound[2], &strongest[2]);
    for (int w = 0; w < NM; w++) {
        double sign = w == 0 ? 0.0 : w == 1 ? 1.0 : -1.0;
        m[w][0] = g > 2 ? smooth : 0.0;
        m[w][1] = -t2 * (v[0] + sign * sound[0]) - t1 * strongest[0] - (g > 1 ? 4.0 * smooth : 0.0);
        m[w][2] = 1.0 + 2.0 * t1 * strongest[1] + (g == 1 || g == points - 2 ? 5.0 : 6.0) * smooth;
        m[w][3] = t2 * (v[2] + sign * sound[2]) - t1 * strongest[2] - (g < points - 2 ? 4.0 * smooth : 0.0);
        m[w][4] = g < points - 3 ? smooth : 0.0;
    }
}

/* A row after elimination: coefficients of the next two points, right-hand sides. */
typedef struct {
    const double *above, *side;
} done_t;

/* Eliminate one point after the two before it. */
static void eliminate(double m[NM][5], const done_t *two, const done_t *one, double *after, double *side)
{
    for (int w = 0; w < NM; w++) {
        double a = m[w][0], b = m[w][1] - a * two->above[2 * w];
        double c = m[w][2] - a * two->above[2 * w + 1] - b * one->above[2 * w];
        double d = m[w][3] - b * one->above[2 * w + 1];
        int from = w == 0 ? 0 : 2 + w, to = w == 0 ? 2 : 2 + w;
        for (int q = from; q <= to; q++)
            side[q] = (side[q] - a * two->side[q] - b * one->side[q]) / c;
        after[2 * w] = d / c;
        after[2 * w + 1] = m[w][4] / c;
    }
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
                double *after = above_at(n, axis, p, q, t), m[NM][5];
                int g = c->lo[axis] + t;
                if (g == 0 || g == points - 1) {
                    for (int l = 0; l < ABOVE; l++)
                        after[l] = 0.0;
                } else {
                    row(axis, dt, c->u + here, stride, g, m);
                    done_t two = { above_at(n, axis, p, q, t - 2), c->r + here - 2 * stride };
                    done_t one = { above_at(n, axis, p, q, t - 1), c->r + here - stride };
                    eliminate(m, &two, &one, after, c->r + here);
                }
            }
        }
}

static int pack_up(int n, int axis)
{
    const cell_t *c = &cells[n];
    int first[2], last[2], count = 0;

    lines_of(c, axis, first, last);
    for (int q = first[1]; q <= last[1]; q++)
        for (int p = first[0]; p <= last[0]; p++)
            for (int t = c->n[axis] - 2; t < c->n[axis]; t++) {
                const double *coefficients = above_at(n, axis, p, q, t), *side = c->r + at(c, axis, p, q, t);
                for (int m = 0; m < ABOVE; m++)
                    up_out[count++] = coefficients[m];
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
        for (int p = first[0]; p <= last[0]; p++)
            for (int t = -2; t < 0; t++) {
                double *coefficients = above_at(n, axis, p, q, t), *side = c->r + at(c, axis, p, q, t);
                for (int m = 0; m < ABOVE; m++)
                    coefficients[m] = up_in[count++];
                for (int m = 0; m < NQ; m++)
                    side[m] = up_in[count++];
            }
}

/* The solution of a cell's lines, from their last points to their first. */
static void substitute_cell(int n, int axis)
{
    static const int matrix[NQ] = { 0, 0, 0, 1, 2 };
    const cell_t *c = &cells[n];
    int first[2], last[2];

    lines_of(c, axis, first, last);
    for (int q = first[1]; q <= last[1]; q++)
        for (int p = first[0]; p <= last[0]; p++) {
            size_t stride = at(c, axis, p, q, 1) - at(c, axis, p, q, 0);
            for (int t = c->n[axis] - 1; t >= 0; t--) {
                const double *coefficients = above_at(n, axis, p, q, t);
                double *x = c->r + at(c, axis, p, q, t);
                for (int m = 0; m < NQ; m++) {
                    int w = matrix[m];
                    x[m] -= coefficients[2 * w] * x[stride + m] + coefficients[2 * w + 1] * x[2 * stride + m];
                }
            }
        }
}

static int pack_down(int n, int axis)
{
    const cell_t *c = &cells[n];
    int first[2], last[2], count = 0;

    lines_of(c, axis, first, last);
    for (int q = first[1]; q <= last[1]; q++)
        for (int p = first[0]; p <= last[0]; p++)
            for (int t = 0; t < 2; t++) {
                const double *x = c->r + at(c, axis, p, q, t);
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
        for (int p = first[0]; p <= last[0]; p++)
            for (int t = c->n[axis]; t < c->n[axis] + 2; t++) {
                double *x = c->r + at(c, axis, p, q, t);
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
