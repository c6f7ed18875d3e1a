/* Changes of variables.  Along an axis the equations fall apart into waves: three
 * that go with the flow, one faster and one slower by the speed of sound. */
#include "sp.h"

#include <math.h>

#define ROOT 0.70710678118654752440     /* of one half */

typedef struct {
    double s, v[3], q, sound2;          /* 1/density, velocity, half its square, square of the speed of sound */
} state_t;

static state_t state(const double *u)
{
    state_t st = { .s = 1.0 / u[0] };
    for (int a = 0; a < 3; a++)
        st.v[a] = u[1 + a] * st.s;
    st.q = 0.5 * (st.v[0] * st.v[0] + st.v[1] * st.v[1] + st.v[2] * st.v[2]);
    st.sound2 = C1 * C2 * (u[4] * st.s - st.q);
    return st;
}

/* From the quantities to the waves along x. */
static void waves(const double *u, double *r)
{
    state_t st = state(u);
    double sound = sqrt(st.sound2);
    double t1 = C2 / st.sound2 * (st.q * r[0] - st.v[0] * r[1] - st.v[1] * r[2] - st.v[2] * r[3] + r[4]);
    double t2 = ROOT * st.s * (st.v[0] * r[0] - r[1]);
    double t3 = ROOT * st.s * sound * t1;
    double w1 = -st.s * (st.v[2] * r[0] - r[3]), w2 = st.s * (st.v[1] * r[0] - r[2]);

    r[0] -= t1;
    r[1] = w1;
    r[2] = w2;
    r[3] = t3 - t2;
    r[4] = t3 + t2;
}

/* From the waves along x to those along y. */
static void turn_to_y(double *r)
{
    double r1 = r[0], r2 = r[1], r3 = r[2], r4 = r[3], r5 = r[4];

    r[0] = -r2;
    r[1] = r1;
    r[2] = ROOT * (r4 - r5);
    r[3] = 0.5 * (r4 + r5) - ROOT * r3;
    r[4] = 0.5 * (r4 + r5) + ROOT * r3;
}

/* From the waves along y to those along z. */
static void turn_to_z(double *r)
{
    double r1 = r[0], r2 = r[1], r3 = r[2], r4 = r[3], r5 = r[4];

    r[0] = ROOT * (r4 - r5);
    r[1] = -r3;
    r[2] = r2;
    r[3] = 0.5 * (r4 + r5) - ROOT * r1;
    r[4] = 0.5 * (r4 + r5) + ROOT * r1;
}

/* From the waves along z back to the quantities. */
static void quantities(const double *u, double *r)
{
    state_t st = state(u);
    double r1 = r[0], r2 = r[1], r3 = r[2], r4 = r[3], r5 = r[4];
    double t1 = ROOT * u[0] / sqrt(st.sound2) * (r4 + r5), t2 = r3 + t1, t3 = ROOT * u[0] * (r4 - r5);

    r[0] = t2;
    r[1] = -u[0] * r2 + st.v[0] * t2;
    r[2] = u[0] * r1 + st.v[1] * t2;
    r[3] = st.v[2] * t2 + t3;
    r[4] = u[0] * (st.v[1] * r1 - st.v[0] * r2) + st.q * t2 + st.sound2 / C2 * t1 + st.v[2] * t3;
}

/* What to do with each point inside the cube. */
static void change(int what)
{
    for (int n = 0; n < width; n++) {
        const cell_t *c = &cells[n];
        int first[3], last[3];
        for (int a = 0; a < 3; a++)
            interior(c, a, &first[a], &last[a]);
        for (int k = first[2]; k <= last[2]; k++)
            for (int j = first[1]; j <= last[1]; j++)
                for (int i = first[0]; i <= last[0]; i++) {
                    double *u = c->u + AT(c, i, j, k), *r = c->r + AT(c, i, j, k);
                    if (what < 0)
                        waves(u, r);
                    else if (what == 0)
                        turn_to_y(r);
                    else if (what == 1)
                        turn_to_z(r);
                    else
                        quantities(u, r);
                }
    }
}

void to_waves(void)
{
    change(-1);
}

void between_sweeps(int axis)
{
    change(axis);
}
