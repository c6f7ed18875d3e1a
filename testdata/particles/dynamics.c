/* Motion of single particles in the potential A * cos(2 pi K x). */
#include "particles.h"

#include <math.h>
#include <stdint.h>

#define A 0.01
#define K 3

static const double two_pi = 6.28318530717958647693;

/* A pseudo-random number in [0, 1) that depends on the seed alone. */
static double uniform(uint64_t seed)
{
    seed += 0x9e3779b97f4a7c15u;
    seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
    seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebu;
    seed ^= seed >> 31;
    return (double)(seed >> 11) * 0x1p-53;
}

double energy(const particle *q)
{
    return 0.5 * q->v * q->v + A * cos(two_pi * K * q->x);
}

particle make_particle(long long id)
{
    particle q;
    q.x = uniform(2 * (uint64_t)id);
    q.v = 2.0 * uniform(2 * (uint64_t)id + 1) - 1.0;
    q.id = id;
    q.e0 = energy(&q);
    return q;
}

/* One leapfrog step (kick, drift, kick); leaves x where the drift takes it. */
void push(particle *q, double dt)
{
    const double f = A * two_pi * K;
    q->v += 0.5 * dt * f * sin(two_pi * K * q->x);
    q->x += dt * q->v;
    q->v += 0.5 * dt * f * sin(two_pi * K * q->x);
}

void push_all(slab *s, double dt)
{
    for (int i = 0; i < s->n; i++)
        push(&s->p[i], dt);
}
