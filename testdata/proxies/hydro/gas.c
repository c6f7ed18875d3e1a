/* An ideal gas: Rusanov fluxes, each averaged over the nine faces beside one another, so that waves
 * in all directions travel alike. */
#include "hydro.h"

#include <math.h>

#define GAMMA 1.4

static double pressure(const double u[NFIELD])
{
    return (GAMMA - 1.0) * (u[4] - 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / u[0]);
}

static double speed(const double u[NFIELD], int dim)
{
    return fabs(u[1 + dim] / u[0]) + sqrt(GAMMA * pressure(u) / u[0]);
}

static void load(const brick *b, size_t at, double u[NFIELD])
{
    for (int f = 0; f < NFIELD; f++)
        u[f] = b->field[f][at];
}

/* The largest speed of any wave in this brick. */
double fastest(const brick *b)
{
    double most = 0.0;
    for (int i = 1; i <= b->n[0]; i++)
        for (int j = 1; j <= b->n[1]; j++)
            for (int k = 1; k <= b->n[2]; k++) {
                double u[NFIELD];
                load(b, CELL(b, i, j, k), u);
                for (int dim = 0; dim < 3; dim++)
                    most = fmax(most, speed(u, dim));
            }
    return most;
}

static void flux(const brick *b, size_t left, size_t right, int dim, double weight, double sum[NFIELD])
{
    double u[NFIELD], v[NFIELD];
    load(b, left, u);
    load(b, right, v);
    double pu = pressure(u), pv = pressure(v), su = u[1 + dim] / u[0], sv = v[1 + dim] / v[0];
    double wave = fmax(fabs(su) + sqrt(GAMMA * pu / u[0]), fabs(sv) + sqrt(GAMMA * pv / v[0]));
    for (int f = 0; f < NFIELD; f++) {
        double fu = su * u[f] + (f == 1 + dim ? pu : f == 4 ? su * pu : 0.0);
        double fv = sv * v[f] + (f == 1 + dim ? pv : f == 4 ? sv * pv : 0.0);
        sum[f] += weight * 0.5 * (fu + fv - wave * (v[f] - u[f]));
    }
}

/* The flux through the lower face of a cell. */
static void face_flux(const brick *b, int i, int j, int k, int dim, double sum[NFIELD])
{
    int along[3] = { dim == 0, dim == 1, dim == 2 };
    for (int f = 0; f < NFIELD; f++)
        sum[f] = 0.0;
    for (int p = -1; p <= 1; p++)
        for (int q = -1; q <= 1; q++) {
            int x = i + (dim == 0 ? 0 : p), y = j + (dim == 0 ? p : dim == 1 ? 0 : q), z = k + (dim == 2 ? 0 : q);
            double weight = (p ? 0.125 : 0.75) * (q ? 0.125 : 0.75);
            flux(b, CELL(b, x - along[0], y - along[1], z - along[2]), CELL(b, x, y, z), dim, weight, sum);
        }
}

void advance(brick *b, double dt_over_h)
{
    for (int i = 1; i <= b->n[0]; i++)
        for (int j = 1; j <= b->n[1]; j++)
            for (int k = 1; k <= b->n[2]; k++) {
                size_t at = CELL(b, i, j, k);
                double change[NFIELD] = { 0 }, low[NFIELD], high[NFIELD];
                for (int dim = 0; dim < 3; dim++) {
                    face_flux(b, i, j, k, dim, low);
                    face_flux(b, i + (dim == 0), j + (dim == 1), k + (dim == 2), dim, high);
                    for (int f = 0; f < NFIELD; f++)
                        change[f] += low[f] - high[f];
                }
                for (int f = 0; f < NFIELD; f++)
                    b->next[f][at] = b->field[f][at] + dt_over_h * change[f];
            }
    for (int f = 0; f < NFIELD; f++) {
        double *swap = b->field[f];
        b->field[f] = b->next[f];
        b->next[f] = swap;
    }
}
