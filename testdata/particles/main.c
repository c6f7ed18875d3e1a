/* Particles that do not interact move in a standing wave on a ring of length 1.
 * Each rank holds a slab; particles that leave it migrate to a neighbour. */
#define _POSIX_C_SOURCE 200112L
#include "particles.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define SAMPLE 61               /* every SAMPLEth particle is followed again alone */
#define DRIFT 1e-3              /* largest allowed change of a particle's energy */

void fail(const char *message)
{
    fprintf(stderr, "particles: %s\n", message);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void init_slab(slab *s, long long total)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &s->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s->size);
    s->left = (s->rank + s->size - 1) % s->size;
    s->right = (s->rank + 1) % s->size;
    s->lo = (double)s->rank / s->size;
    s->hi = (double)(s->rank + 1) / s->size;
    s->n = 0;
    s->room = (int)(2 * total / s->size) + 1000;
    s->p = malloc((size_t)s->room * sizeof *s->p);
    if (!s->p)
        fail("out of memory");
    for (long long id = 0; id < total; id++) {
        particle q = make_particle(id);
        if (q.x >= s->lo && q.x < s->hi) {
            if (s->n == s->room)
                fail("too many particles in one slab");
            s->p[s->n++] = q;
        }
    }
}

/* Follow a particle from its start on one's own; the result must be the same. */
static int same_alone(const particle *q, int steps, double dt)
{
    particle r = make_particle(q->id);
    for (int t = 0; t < steps; t++) {
        push(&r, dt);
        if (r.x < 0.0)
            r.x += 1.0;
        else if (r.x >= 1.0)
            r.x -= 1.0;
    }
    return r.x == q->x && r.v == q->v && r.e0 == q->e0;
}

int main(int argc, char **argv)
{
    slab s;

    MPI_Init(&argc, &argv);
    long long total = argc > 1 ? atoll(argv[1]) : 200000;
    int steps = argc > 2 ? atoi(argv[2]) : 100;
    const double dt = 0.02;
    if (total < 1 || total > 1000000000 || steps < 0) {
        fprintf(stderr, "usage: particles [N [STEPS]], N from 1 to 1000000000\n");
        MPI_Finalize();
        return 2;
    }
    init_slab(&s, total);

    double spent = 0.0;
    for (int t = 0; t < steps; t++) {
        push_all(&s, dt);

        /* Start together, so that the time is that of the migration. */
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        migrate(&s);
        spent += MPI_Wtime() - start;
    }

    /* Energies are summed as integers, in units of 2^-32: such a sum does not
     * depend on the order, nor on the number of ranks. */
    long long mine[4] = { 0 }, all[4];
    double drift = 0.0, max_drift, max_spent;
    for (int i = 0; i < s.n; i++) {
        const particle *q = &s.p[i];
        double e = energy(q);
        drift = fmax(drift, fabs(e - q->e0));
        mine[0]++;
        mine[1] += q->id;
        mine[2] += llround(e * 0x1p32);
        if (q->x < s.lo || q->x >= s.hi || (q->id % SAMPLE == 0 && !same_alone(q, steps, dt)))
            mine[3]++;
    }
    MPI_Reduce(mine, all, 4, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&drift, &max_drift, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&spent, &max_spent, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    int passed = 1;
    if (s.rank == 0) {
        passed = all[0] == total && all[1] == total * (total - 1) / 2 && all[3] == 0
              && max_drift <= DRIFT;
        printf("particles: %lld particles, %d steps\n", total, steps);
        printf("particles at the end: %lld\n", all[0]);
        printf("sum of their numbers: %lld\n", all[1]);
        printf("total energy: %.17g\n", (double)all[2] * 0x1p-32);
        printf("largest change of a particle's energy: %.17g\n", max_drift);
        printf("particles astray: %lld\n", all[3]);
        printf("time pack+exchange+unpack: %.6f s\n", max_spent);
        printf("verification: %s\n", passed ? "PASSED" : "FAILED");
    }
    MPI_Bcast(&passed, 1, MPI_INT, 0, MPI_COMM_WORLD);

    free(s.p);
    MPI_Finalize();
    return passed ? 0 : 1;
}
