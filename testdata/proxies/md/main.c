/* A crystal of 4 * CELLS^3 atoms melts.  The energies must be those of the same
 * run on one rank, and their sum must stay what it was. */
#define _POSIX_C_SOURCE 200112L
#include "md.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DENSITY 0.8442
#define TEMPERATURE 1.44
#define DT 0.005
#define REBUILD 10              /* steps between new lists */
#define AGREE 1e-6              /* with one rank, per atom: rounding grows in a fluid */
#define DRIFT 2e-3              /* of the total energy per atom */

/* Energies per atom that one rank found; other sizes are run again on one rank. */
static const struct {
    int cells, steps;
    energies per_atom;
} found_alone[] = {
    { 6, 40, { 1.048017013, -5.245982867 } },
    { 12, 100, { 1.134821038, -5.315237789 } },
};

typedef struct {
    energies start, end;
    double exchange, total;     /* seconds, the longest of any rank */
    long long atoms, ids;
} outcome;

void stop(const char *message)
{
    fprintf(stderr, "md: %s\n", message);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

void *grown(void *p, int *room, int needed, size_t size)
{
    if (needed <= *room)
        return p;
    *room = needed + needed / 2 + 64;
    p = realloc(p, (size_t)*room * size);
    if (!p)
        stop("out of memory");
    return p;
}

static double uniform(uint64_t seed)
{
    seed = (seed + 0x632be59bd9b4e019u) * 0xd6e8feb86659fd93u;
    seed = (seed ^ (seed >> 32)) * 0xd6e8feb86659fd93u;
    seed ^= seed >> 32;
    return (double)(seed >> 11) * 0x1p-53 - 0.5;
}

/* Face-centred cubic, velocities by the number of the atom. */
static void crystal(const domain *d, atoms *a, int cells, double lattice)
{
    static const double base[4][3] = { { 0, 0, 0 }, { .5, .5, 0 }, { .5, 0, .5 }, { 0, .5, .5 } };
    /* The variance of a uniform number in (-1/2, 1/2) is 1/12. */
    const double speed = sqrt(12.0 * TEMPERATURE);
    long id = 0;
    for (int cx = 0; cx < cells; cx++)
        for (int cy = 0; cy < cells; cy++)
            for (int cz = 0; cz < cells; cz++)
                for (int b = 0; b < 4; b++, id++) {
                    double x[3] = { (cx + base[b][0] + .25) * lattice, (cy + base[b][1] + .25) * lattice,
                                    (cz + base[b][2] + .25) * lattice };
                    if (x[0] < d->lo[0] || x[0] >= d->hi[0] || x[1] < d->lo[1] || x[1] >= d->hi[1]
                        || x[2] < d->lo[2] || x[2] >= d->hi[2])
                        continue;
                    if (a->nlocal == a->room)
                        stop("too many atoms in one brick");
                    for (int k = 0; k < 3; k++) {
                        a->x[a->nlocal][k] = x[k];
                        a->v[a->nlocal][k] = speed * uniform(3 * (uint64_t)id + (uint64_t)k);
                    }
                    a->id[a->nlocal++] = id;
                }
}

static energies sum_energies(const domain *d, const atoms *a, double potential)
{
    energies mine = { 0.0, potential }, all;
    for (int i = 0; i < a->nlocal; i++)
        for (int k = 0; k < 3; k++)
            mine.kinetic += 0.5 * a->v[i][k] * a->v[i][k];
    MPI_Allreduce(&mine.kinetic, &all.kinetic, 1, MPI_DOUBLE, MPI_SUM, d->comm);
    MPI_Allreduce(&mine.potential, &all.potential, 1, MPI_DOUBLE, MPI_SUM, d->comm);
    return all;
}

static void simulate(MPI_Comm comm, int cells, int steps, outcome *o)
{
    domain d;
    atoms a;
    neighbours list = { 0, 0, NULL };
    const double lattice = cbrt(4.0 / DENSITY), edge = cells * lattice, box[3] = { edge, edge, edge };

    domain_setup(&d, comm, box);
    int total = 4 * cells * cells * cells;
    memset(&a, 0, sizeof a);
    a.room = total / d.size * 2 + 1000;
    a.x = calloc((size_t)a.room, sizeof *a.x);
    a.v = calloc((size_t)a.room, sizeof *a.v);
    a.f = calloc((size_t)a.room, sizeof *a.f);
    a.id = calloc((size_t)a.room, sizeof *a.id);
    if (!a.x || !a.v || !a.f || !a.id)
        stop("out of memory");
    buffers_setup(total + 1000);
    crystal(&d, &a, cells, lattice);

    double spent = 0.0, before, began = MPI_Wtime();
    make_borders(&d, &a);
    make_list(&a, &d, &list);
    double potential = forces(&a, &list);
    collect_forces(&d, &a);
    o->start = sum_energies(&d, &a, potential);
    for (int t = 1; t <= steps; t++) {
        for (int i = 0; i < a.nlocal; i++)
            for (int k = 0; k < 3; k++) {
                a.v[i][k] += 0.5 * DT * a.f[i][k];
                a.x[i][k] += DT * a.v[i][k];
            }
        before = MPI_Wtime();
        if (t % REBUILD) {
            send_positions(&d, &a);
            spent += MPI_Wtime() - before;
        } else {
            move_atoms(&d, &a);
            make_borders(&d, &a);
            spent += MPI_Wtime() - before;
            make_list(&a, &d, &list);
        }
        potential = forces(&a, &list);
        before = MPI_Wtime();
        collect_forces(&d, &a);
        spent += MPI_Wtime() - before;
        for (int i = 0; i < a.nlocal; i++)
            for (int k = 0; k < 3; k++)
                a.v[i][k] += 0.5 * DT * a.f[i][k];
    }
    double times[2] = { spent, MPI_Wtime() - began }, longest[2];
    o->end = sum_energies(&d, &a, potential);
    long long mine[2] = { a.nlocal, 0 }, all[2];
    for (int i = 0; i < a.nlocal; i++)
        mine[1] += a.id[i];
    MPI_Allreduce(mine, all, 2, MPI_LONG_LONG, MPI_SUM, comm);
    MPI_Allreduce(times, longest, 2, MPI_DOUBLE, MPI_MAX, comm);
    o->atoms = all[0];
    o->ids = all[1];
    o->exchange = longest[0];
    o->total = longest[1];

    free(a.x);
    free(a.v);
    free(a.f);
    free(a.id);
    free(list.pair);
    buffers_end();
    domain_end(&d);
}

int main(int argc, char **argv)
{
    outcome o, alone;
    int rank, size, passed = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int cells = argc > 1 ? atoi(argv[1]) : 12;
    int steps = argc > 2 ? atoi(argv[2]) : 100;
    if (cells < 2 || cells > 150 || steps < 1) {
        fprintf(stderr, "usage: md [CELLS [STEPS]], CELLS from 2\n");
        MPI_Finalize();
        return 2;
    }
    simulate(MPI_COMM_WORLD, cells, steps, &o);
    alone = o;
    int known = 0;
    for (size_t k = 0; k < sizeof found_alone / sizeof *found_alone; k++)
        if (found_alone[k].cells == cells && found_alone[k].steps == steps) {
            known = 1;
            alone.end.kinetic = found_alone[k].per_atom.kinetic * (double)o.atoms;
            alone.end.potential = found_alone[k].per_atom.potential * (double)o.atoms;
        }
    if (rank == 0 && size > 1 && !known)
        simulate(MPI_COMM_SELF, cells, steps, &alone);
    if (rank == 0) {
        long long n = 4LL * cells * cells * cells;
        double first = (o.start.kinetic + o.start.potential) / (double)n;
        double last = (o.end.kinetic + o.end.potential) / (double)n;
        passed = o.atoms == n && o.ids == n * (n - 1) / 2 && fabs(last - first) <= DRIFT
              && fabs(o.end.kinetic - alone.end.kinetic) <= AGREE * (double)n
              && fabs(o.end.potential - alone.end.potential) <= AGREE * (double)n;
        printf("md: %lld atoms, %d steps\n", n, steps);
        printf("atoms at the end: %lld\n", o.atoms);
        printf("sum of their numbers: %lld\n", o.ids);
        printf("kinetic energy per atom: %.5f\n", o.end.kinetic / (double)n);
        printf("potential energy per atom: %.5f\n", o.end.potential / (double)n);
        printf("total energy per atom: %.5f, at the start %.5f\n", last, first);
        printf("time exchange: %.6f s\n", o.exchange);
        printf("time total: %.6f s\n", o.total);
        printf("verification: %s\n", passed ? "PASSED" : "FAILED");
    }
    MPI_Bcast(&passed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return passed ? 0 : 1;
}
