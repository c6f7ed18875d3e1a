/* Symmetric successive over-relaxation: one sweep through all points, up or
 * down, in which each takes its neighbours that the sweep has passed as solved.
 * Planes of z follow one another through the ranks like a wave. */
#include "lu.h"

#include <math.h>

#define OMEGA 1.2

/* v -= omega * B w, where B couples a point with the neighbour along axis that
 * the sweep has passed: its flow is u, its solution w. */
static void couple(int axis, int up, double dt, const double *u, const double *w, double *v)
{
    double a[NQ][NQ], n[NQ][NQ], h = points - 1;
    double t1 = dt * h * h, t2 = dt * 0.5 * h * (up ? -1.0 : 1.0);

    jacobians(axis, u, a, n);
    for (int m = 0; m < NQ; m++) {
        double sum = -t1 * diffusion[axis] * w[m];
        for (int l = 0; l < NQ; l++)
            sum += (t2 * a[m][l] - t1 * n[m][l]) * w[l];
        v[m] -= OMEGA * sum;
    }
}

/* v = D^-1 v, where D couples a point with itself. */
static void solve_point(double dt, const double *u, double *v)
{
    double a[NQ][NQ], n[NQ][NQ], d[NQ][NQ] = { { 0.0 } }, h = points - 1;

    for (int axis = 0; axis < 3; axis++) {
        jacobians(axis, u, a, n);
        for (int m = 0; m < NQ; m++) {
            for (int l = 0; l < NQ; l++)
                d[m][l] += 2.0 * dt * h * h * n[m][l];
            d[m][m] += 2.0 * dt * h * h * diffusion[axis];
        }
    }
    for (int m = 0; m < NQ; m++)
        d[m][m] += 1.0;
    for (int p = 0; p < NQ; p++)
        for (int m = p + 1; m < NQ; m++) {
            double factor = d[m][p] / d[p][p];
            for (int l = p + 1; l < NQ; l++)
                d[m][l] -= factor * d[p][l];
            v[m] -= factor * v[p];
        }
    for (int p = NQ - 1; p >= 0; p--) {
        for (int l = p + 1; l < NQ; l++)
            v[p] -= d[p][l] * v[l];
        v[p] /= d[p][p];
    }
}

/* The points of one plane, in the sweep's order.  Neighbours on the cube's
 * surface do not change: their part in the solution is zero. */
static void plane(const cell_t *c, double dt, int k, int up)
{
    int first[2], last[2], back = up ? -1 : 1;

    interior(c, 0, &first[0], &last[0]);
    interior(c, 1, &first[1], &last[1]);
    for (int jj = first[1]; jj <= last[1]; jj++) {
        int j = up ? jj : first[1] + last[1] - jj;
        for (int ii = first[0]; ii <= last[0]; ii++) {
            int i = up ? ii : first[0] + last[0] - ii;
            double v[NQ];
            for (int m = 0; m < NQ; m++)
                v[m] = up ? c->r[AT(c, i, j, k) + m] : 0.0;
            couple(2, up, dt, c->u + AT(c, i, j, k + back), c->r + AT(c, i, j, k + back), v);
            couple(1, up, dt, c->u + AT(c, i, j + back, k), c->r + AT(c, i, j + back, k), v);
            couple(0, up, dt, c->u + AT(c, i + back, j, k), c->r + AT(c, i + back, j, k), v);
            solve_point(dt, c->u + AT(c, i, j, k), v);
            for (int m = 0; m < NQ; m++)
                c->r[AT(c, i, j, k) + m] = v[m] + (up ? 0.0 : c->r[AT(c, i, j, k) + m]);
        }
    }
}

void sweep(const cell_t *c, double dt, int up)
{
    for (int kk = 1; kk < points - 1; kk++) {
        int k = up ? kk : points - 1 - kk;
        recv_rows(c, c->r, k, up);
        plane(c, dt, k, up);
        send_rows(c, c->r, k, up);
    }
}
