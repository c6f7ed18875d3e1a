/* The flow: its equations, its start, and how far it is from the polynomial. */
#include "flow.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define EPSILON 1e-8

int points;
const double diffusion[3] = { 0.75, 0.75, 1.0 };

/* The polynomial's coefficients: 1, then the first to fourth powers of x, y and z. */
static const double coefficient[NQ][13] = {
    { 2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3 },
    { 1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5 },
    { 2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4 },
    { 2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3 },
    { 5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2 },
};

void *allocate(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

/* The polynomial at a place in the unit cube. */
static void polynomial(double x, double y, double z, double *u)
{
    for (int m = 0; m < NQ; m++) {
        const double *c = coefficient[m];
        u[m] = c[0] + x * (c[1] + x * (c[4] + x * (c[7] + x * c[10])))
                    + y * (c[2] + y * (c[5] + y * (c[8] + y * c[11])))
                    + z * (c[3] + z * (c[6] + z * (c[9] + z * c[12])));
    }
}

/* The polynomial at a point of the cube. */
void exact(int i, int j, int k, double *u)
{
    double h = 1.0 / (points - 1);
    polynomial(i * h, j * h, k * h, u);
}

/* Numbers in a field, ghosts included. */
size_t cell_size(const cell_t *c)
{
    return (size_t)(c->n[0] + 2 * GHOSTS) * (c->n[1] + 2 * GHOSTS) * (c->n[2] + 2 * GHOSTS) * NQ;
}

static double *new_field(const cell_t *c)
{
    double *field = allocate(cell_size(c) * sizeof *field);
    for (size_t i = 0; i < cell_size(c); i++)
        field[i] = 0.0;
    return field;
}

void new_cell(cell_t *c)
{
    c->u = new_field(c);
    c->r = new_field(c);
    c->force = new_field(c);
}

void free_cell(cell_t *c)
{
    free(c->u);
    free(c->r);
    free(c->force);
}

/* The cell's first and last local point along an axis that is not on the cube's surface. */
void interior(const cell_t *c, int axis, int *first, int *last)
{
    *first = c->lo[axis] == 0;
    *last = c->n[axis] - 1 - (c->lo[axis] + c->n[axis] == points);
}

/* The polynomial on the surface, and inside a blend of its values on the surface. */
void initial_flow(const cell_t *c)
{
    for (int k = 0; k < c->n[2]; k++)
        for (int j = 0; j < c->n[1]; j++)
            for (int i = 0; i < c->n[0]; i++) {
                int g[3] = { c->lo[0] + i, c->lo[1] + j, c->lo[2] + k }, last = points - 1;
                double face[3][2][NQ], blend[3], *u = c->u + AT(c, i, j, k);
                if (g[0] == 0 || g[0] == last || g[1] == 0 || g[1] == last || g[2] == 0 || g[2] == last) {
                    exact(g[0], g[1], g[2], u);
                    continue;
                }
                for (int side = 0; side < 2; side++) {
                    exact(side * last, g[1], g[2], face[0][side]);
                    exact(g[0], side * last, g[2], face[1][side]);
                    exact(g[0], g[1], side * last, face[2][side]);
                }
                for (int m = 0; m < NQ; m++) {
                    for (int a = 0; a < 3; a++) {
                        double t = (double)g[a] / last;
                        blend[a] = t * face[a][1][m] + (1.0 - t) * face[a][0][m];
                    }
                    u[m] = blend[0] + blend[1] + blend[2] - blend[0] * blend[1] - blend[0] * blend[2]
                         - blend[1] * blend[2] + blend[0] * blend[1] * blend[2];
                }
            }
}

/* The fourth difference at place g of the axis; beyond the surface there is nothing. */
static double fourth(const double (*u)[NQ], int at, int g, int m)
{
    double d = -4.0 * (u[at - 1][m] + u[at + 1][m]) + 6.0 * u[at][m];
    if (g == 1)
        d = 5.0 * u[at][m] - 4.0 * u[at + 1][m];
    else if (g == points - 2)
        d = 5.0 * u[at][m] - 4.0 * u[at - 1][m];
    if (g > 2)
        d += u[at - 2][m];
    if (g < points - 3)
        d += u[at + 2][m];
    return d;
}

/* Adds to r what one line of points along an axis gains: convection, viscosity
 * and heat, diffusion, and a little smoothing.  The line begins at u and r. */
static void line(const cell_t *c, int axis, size_t start, size_t stride)
{
    double u[MAXN + 2 * GHOSTS][NQ], flux[MAXN + 2 * GHOSTS][NQ], stress[MAXN + 2 * GHOSTS][NQ];
    double h = points - 1, t1 = h * h, t2 = 0.5 * h;
    int from, to, low = -c->lo[axis], high = points - 1 - c->lo[axis];

    interior(c, axis, &from, &to);
    if (low < -GHOSTS)
        low = -GHOSTS;
    if (high > c->n[axis] - 1 + GHOSTS)
        high = c->n[axis] - 1 + GHOSTS;
    for (int i = low; i <= high; i++)
        for (int m = 0; m < NQ; m++)
            u[i + GHOSTS][m] = c->u[start + i * stride + m];

    for (int at = from - 1 + GHOSTS; at <= to + 1 + GHOSTS; at++) {
        double v = u[at][1 + axis] / u[at][0];
        double q = 0.5 * (u[at][1] * u[at][1] + u[at][2] * u[at][2] + u[at][3] * u[at][3]) / u[at][0];
        for (int m = 0; m < NQ; m++)
            flux[at][m] = u[at][m] * v;
        flux[at][1 + axis] += C2 * (u[at][4] - q);
        flux[at][4] = (C1 * u[at][4] - C2 * q) * v;
    }
    for (int at = from + GHOSTS; at <= to + 1 + GHOSTS; at++) {
        double now[NQ], before[NQ], square = 0.0;
        for (int m = 1; m < NQ; m++) {
            now[m] = u[at][m] / u[at][0];
            before[m] = u[at - 1][m] / u[at - 1][0];
            stress[at][m] = now[m] - before[m];
        }
        for (int m = 1; m < 4; m++)
            square += now[m] * now[m] - before[m] * before[m];
        stress[at][1 + axis] *= 4.0 / 3.0;
        stress[at][4] = 0.5 * (1.0 - C1C5) * square + C1C5 * stress[at][4]
                      + (now[1 + axis] * now[1 + axis] - before[1 + axis] * before[1 + axis]) / 6.0;
        stress[at][0] = 0.0;
    }
    for (int i = from; i <= to; i++) {
        int at = i + GHOSTS;
        for (int m = 0; m < NQ; m++)
            c->r[start + i * stride + m] +=
                - t2 * (flux[at + 1][m] - flux[at - 1][m])
                + C3C4 * t1 * (stress[at + 1][m] - stress[at][m])
                + diffusion[axis] * t1 * (u[at - 1][m] - 2.0 * u[at][m] + u[at + 1][m])
                - DSSP * fourth((const double (*)[NQ])u, at, c->lo[axis] + i, m);
    }
}

/* r += the rate at which the flow changes by itself, at points inside the cube. */
static void add_flow(const cell_t *c)
{
    int first[3], last[3];

    for (int a = 0; a < 3; a++)
        interior(c, a, &first[a], &last[a]);
    for (int k = first[2]; k <= last[2]; k++)
        for (int j = first[1]; j <= last[1]; j++)
            line(c, 0, AT(c, 0, j, k), NQ);
    for (int k = first[2]; k <= last[2]; k++)
        for (int i = first[0]; i <= last[0]; i++)
            line(c, 1, AT(c, i, 0, k), AT(c, 0, 1, 0) - AT(c, 0, 0, 0));
    for (int j = first[1]; j <= last[1]; j++)
        for (int i = first[0]; i <= last[0]; i++)
            line(c, 2, AT(c, i, j, 0), AT(c, 0, 0, 1) - AT(c, 0, 0, 0));
}

/* Overwrites u: the force is what the polynomial would change by. */
void make_force(const cell_t *c)
{
    for (int k = -GHOSTS; k < c->n[2] + GHOSTS; k++)
        for (int j = -GHOSTS; j < c->n[1] + GHOSTS; j++)
            for (int i = -GHOSTS; i < c->n[0] + GHOSTS; i++)
                exact(c->lo[0] + i, c->lo[1] + j, c->lo[2] + k, c->u + AT(c, i, j, k));
    for (size_t i = 0; i < cell_size(c); i++)
        c->r[i] = 0.0;
    add_flow(c);
    for (size_t i = 0; i < cell_size(c); i++) {
        c->force[i] = c->r[i];
        c->u[i] = 0.0;
    }
}

/* r = the rate of change under the force; needs the ghosts of u. */
void rate_of_change(const cell_t *c)
{
    for (size_t i = 0; i < cell_size(c); i++)
        c->r[i] = -c->force[i];
    add_flow(c);
}

/* How the flux along an axis (a) and what the stress is made of (n) depend on the flow. */
void jacobians(int axis, const double *u, double a[NQ][NQ], double n[NQ][NQ])
{
    double s = 1.0 / u[0], s2 = s * s, s3 = s2 * s, along = u[1 + axis];
    double q = 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) * s2;
    double heat = C1C5 * C3C4;

    for (int m = 0; m < NQ; m++)
        for (int l = 0; l < NQ; l++)
            a[m][l] = n[m][l] = 0.0;
    a[0][1 + axis] = 1.0;
    a[4][0] = (2.0 * C2 * q - C1 * u[4] * s) * along * s;
    a[4][1 + axis] = C1 * u[4] * s - C2 * q;
    a[4][4] = C1 * along * s;
    n[4][0] = -heat * s2 * u[4];
    n[4][4] = heat * s;
    for (int m = 1; m < 4; m++) {
        double weight = m == 1 + axis ? 4.0 / 3.0 * C3C4 : C3C4;
        a[m][0] = -along * u[m] * s2;
        a[m][m] += along * s;
        a[m][1 + axis] += u[m] * s;
        a[4][m] -= C2 * u[m] * along * s2;
        n[m][0] = -weight * s2 * u[m];
        n[m][m] = weight * s;
        n[4][0] -= (weight - heat) * s3 * u[m] * u[m];
        n[4][m] = (weight - heat) * s2 * u[m];
    }
    a[1 + axis][0] += C2 * q;
    for (int l = 1; l < 4; l++)
        a[1 + axis][l] -= C2 * u[l] * s;
    a[1 + axis][4] = C2;
}

/* Squares of the distance from the polynomial. */
void add_errors(const cell_t *c, double sum[NQ])
{
    for (int k = 0; k < c->n[2]; k++)
        for (int j = 0; j < c->n[1]; j++)
            for (int i = 0; i < c->n[0]; i++) {
                double want[NQ];
                exact(c->lo[0] + i, c->lo[1] + j, c->lo[2] + k, want);
                for (int m = 0; m < NQ; m++) {
                    double d = c->u[AT(c, i, j, k) + m] - want[m];
                    sum[m] += d * d;
                }
            }
}

/* Squares of the rates of change. */
void add_rates(const cell_t *c, double sum[NQ])
{
    int first[3], last[3];

    for (int a = 0; a < 3; a++)
        interior(c, a, &first[a], &last[a]);
    for (int k = first[2]; k <= last[2]; k++)
        for (int j = first[1]; j <= last[1]; j++)
            for (int i = first[0]; i <= last[0]; i++)
                for (int m = 0; m < NQ; m++)
                    sum[m] += c->r[AT(c, i, j, k) + m] * c->r[AT(c, i, j, k) + m];
}

/* Prints the values beside the published ones; are they the same? */
int agree(const char *what, const double *got, const double *want, int count)
{
    int same = 1;
    for (int m = 0; m < count; m++) {
        printf("%s %d: %.13e, want %.13e\n", what, m + 1, got[m], want[m]);
        same = same && fabs((got[m] - want[m]) / want[m]) <= EPSILON;
    }
    return same;
}
