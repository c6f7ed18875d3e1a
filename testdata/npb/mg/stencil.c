/* The operators on and between grids.  Each weighs the 27 points around one by
 * their distance: centre, 6 faces, 12 edges, 8 corners. */
#include "mg.h"

#include <math.h>

/* Sums over the neighbours of a point in the plane across x: the four beside
 * it and the four across. */
static double beside(const level_t *l, const double *u, int i, int j, int k)
{
    return u[AT(l, i, j - 1, k)] + u[AT(l, i, j + 1, k)] + u[AT(l, i, j, k - 1)] + u[AT(l, i, j, k + 1)];
}

static double across(const level_t *l, const double *u, int i, int j, int k)
{
    return u[AT(l, i, j - 1, k - 1)] + u[AT(l, i, j + 1, k - 1)]
         + u[AT(l, i, j - 1, k + 1)] + u[AT(l, i, j + 1, k + 1)];
}

/* r = v - A u; r may be v. */
void residual(const level_t *l, const double *u, const double *v, double *r)
{
    static const double centre = -8.0 / 3.0, edge = 1.0 / 6.0, corner = 1.0 / 12.0;
    const int *n = l->n;

    for (int k = 1; k <= n[2]; k++)
        for (int j = 1; j <= n[1]; j++) {
            double cross[3] = { 0.0, across(l, u, 0, j, k), across(l, u, 1, j, k) };
            for (int i = 1; i <= n[0]; i++) {
                cross[0] = cross[1];
                cross[1] = cross[2];
                cross[2] = across(l, u, i + 1, j, k);
                r[AT(l, i, j, k)] = v[AT(l, i, j, k)] - centre * u[AT(l, i, j, k)]
                    - edge * (cross[1] + beside(l, u, i - 1, j, k) + beside(l, u, i + 1, j, k))
                    - corner * (cross[0] + cross[2]);
            }
        }
    exchange(l, r);
}

/* u += C r */
void smooth(const level_t *l, const double *r, double *u, const double c[3])
{
    const int *n = l->n;

    for (int k = 1; k <= n[2]; k++)
        for (int j = 1; j <= n[1]; j++) {
            double by[3] = { 0.0, beside(l, r, 0, j, k), beside(l, r, 1, j, k) };
            for (int i = 1; i <= n[0]; i++) {
                by[0] = by[1];
                by[1] = by[2];
                by[2] = beside(l, r, i + 1, j, k);
                u[AT(l, i, j, k)] += c[0] * r[AT(l, i, j, k)]
                    + c[1] * (r[AT(l, i - 1, j, k)] + r[AT(l, i + 1, j, k)] + by[1])
                    + c[2] * (across(l, r, i, j, k) + by[0] + by[2]);
            }
        }
    exchange(l, u);
}

/* s = the weighted mean of r around every second point. */
void restriction(const level_t *fine, const double *r, const level_t *coarse, double *s)
{
    const int *n = coarse->n;

    for (int ck = 1; ck <= n[2]; ck++)
        for (int cj = 1; cj <= n[1]; cj++)
            for (int ci = 1; ci <= n[0]; ci++) {
                int i = 2 * ci, j = 2 * cj, k = 2 * ck;
                double faces = r[AT(fine, i - 1, j, k)] + r[AT(fine, i + 1, j, k)] + beside(fine, r, i, j, k);
                double edges = beside(fine, r, i - 1, j, k) + beside(fine, r, i + 1, j, k) + across(fine, r, i, j, k);
                double corners = across(fine, r, i - 1, j, k) + across(fine, r, i + 1, j, k);
                s[AT(coarse, ci, cj, ck)] = 0.5 * r[AT(fine, i, j, k)] + 0.25 * faces + 0.125 * edges
                                          + 0.0625 * corners;
            }
    exchange(coarse, s);
}

/* u += z, which lies on every second point: the points between get the means
 * of those around them.  Ghosts too, as z has them. */
void interpolate(const level_t *coarse, const double *z, const level_t *fine, double *u)
{
    const int *n = coarse->n;

    for (int ck = 0; ck <= n[2]; ck++)
        for (int cj = 0; cj <= n[1]; cj++)
            for (int ci = 0; ci <= n[0]; ci++) {
                double z000 = z[AT(coarse, ci, cj, ck)], z100 = z[AT(coarse, ci + 1, cj, ck)];
                double z010 = z[AT(coarse, ci, cj + 1, ck)], z110 = z[AT(coarse, ci + 1, cj + 1, ck)];
                double z001 = z[AT(coarse, ci, cj, ck + 1)], z101 = z[AT(coarse, ci + 1, cj, ck + 1)];
                double z011 = z[AT(coarse, ci, cj + 1, ck + 1)], z111 = z[AT(coarse, ci + 1, cj + 1, ck + 1)];
                int i = 2 * ci, j = 2 * cj, k = 2 * ck;
                u[AT(fine, i, j, k)] += z000;
                u[AT(fine, i + 1, j, k)] += 0.5 * (z000 + z100);
                u[AT(fine, i, j + 1, k)] += 0.5 * (z000 + z010);
                u[AT(fine, i + 1, j + 1, k)] += 0.25 * (z000 + z100 + z010 + z110);
                u[AT(fine, i, j, k + 1)] += 0.5 * (z000 + z001);
                u[AT(fine, i + 1, j, k + 1)] += 0.25 * (z000 + z100 + z001 + z101);
                u[AT(fine, i, j + 1, k + 1)] += 0.25 * (z000 + z010 + z001 + z011);
                u[AT(fine, i + 1, j + 1, k + 1)] += 0.125 * (z000 + z100 + z010 + z110 + z001 + z101 + z011 + z111);
            }
}

/* The root of the mean square over the whole grid, which has so many points. */
double norm(const level_t *l, const double *r, double points)
{
    const int *n = l->n;
    double sum = 0.0, total;

    for (int k = 1; k <= n[2]; k++)
        for (int j = 1; j <= n[1]; j++)
            for (int i = 1; i <= n[0]; i++)
                sum += r[AT(l, i, j, k)] * r[AT(l, i, j, k)];
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sqrt(total / points);
}
