/* Species spread at different rates.  None may be lost at the borders between
 * coarse and fine blocks, nor rise above what it was at most. */
#define _POSIX_C_SOURCE 200112L
#include "amr.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-9          /* of a species' amount per coarse cell */

void *room(size_t count, size_t size)
{
    void *p = calloc(count + 1, size);
    if (!p) {
        fprintf(stderr, "amr: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

static void start_values(mesh *m)
{
    for (int n = 0; n < m->nblock; n++) {
        block *b = &m->blocks[n];
        if (b->owner != m->rank)
            continue;
        double cells = (double)(m->roots << b->level) * EDGE;
        for (int i = 0; i < EDGE; i++)
            for (int j = 0; j < EDGE; j++) {
                double x = (b->x * EDGE + i + 0.5) / cells - 0.5, y = (b->y * EDGE + j + 0.5) / cells - 0.5;
                for (int v = 0; v < NVAR; v++)
                    b->u[(i * EDGE + j) * NVAR + v] = exp(-200.0 * pow(sqrt(x * x + y * y) - 0.3, 2)) * (1.0 + 0.5 * x * v);
            }
    }
}

/* What flows into a block through its sides: from each ghost cell through the smaller of both edges. */
static void flow_in(const contact *c, double coarse_rate, double *change)
{
    double rate = c->fine == c->other_fine ? coarse_rate : coarse_rate * (0.5 / 0.75);
    int most = c->cells > c->ghosts ? c->cells : c->ghosts;
    for (int e = 0; e < most; e++) {
        int k = c->first + e * c->cells / most;
        const double *beyond = &c->ghost[e * c->ghosts / most * NVAR];
        int i = c->side == 0 ? 0 : c->side == 1 ? EDGE - 1 : k, j = c->side == 2 ? 0 : c->side == 3 ? EDGE - 1 : k;
        for (int v = 0; v < NVAR; v++)
            change[(i * EDGE + j) * NVAR + v] += rate * (v + 1) * beyond[v];
        change[EDGE * EDGE * NVAR + (i * EDGE + j)] += rate;
    }
}

static void step(mesh *m, double rate)
{
    /* Inflow of every species, then how much of a cell's own flows out, per unit of diffusivity. */
    static double change[EDGE * EDGE * (NVAR + 1)];
    int k = 0;

    for (int n = 0; n < m->nblock; n++) {
        block *b = &m->blocks[n];
        if (b->owner != m->rank)
            continue;
        memset(change, 0, sizeof change);
        for (; k < m->ncontact && m->contacts[k].block == n; k++)
            flow_in(&m->contacts[k], rate, change);
        for (int i = 0; i < EDGE; i++)
            for (int j = 0; j < EDGE; j++) {
                double *sum = &change[(i * EDGE + j) * NVAR], *out = &change[EDGE * EDGE * NVAR + i * EDGE + j];
                const double *u = &b->u[(i * EDGE + j) * NVAR];
                int inner[NSIDE] = { i > 0, i < EDGE - 1, j > 0, j < EDGE - 1 };
                int offset[NSIDE] = { -EDGE * NVAR, EDGE * NVAR, -NVAR, NVAR };
                for (int s = 0; s < NSIDE; s++)
                    if (inner[s]) {
                        for (int v = 0; v < NVAR; v++)
                            sum[v] += rate * (v + 1) * u[offset[s] + v];
                        *out += rate;
                    }
                double area = b->level ? 4.0 : 1.0;     /* cells of this size in a coarse one */
                for (int v = 0; v < NVAR; v++)
                    b->next[(i * EDGE + j) * NVAR + v] = u[v] + area * (sum[v] - *out * (v + 1) * u[v]);
            }
    }
    for (int n = 0; n < m->nblock; n++) {
        double *swap = m->blocks[n].u;
        m->blocks[n].u = m->blocks[n].next;
        m->blocks[n].next = swap;
    }
}

/* Amount of each species in units of 2^-40, so that the order of summation does not matter; and the largest value. */
static double totals(const mesh *m, long long all[NVAR], uint64_t *checksum)
{
    long long mine[NVAR] = { 0 };
    uint64_t sum = 0;
    double top = 0.0, highest;
    for (int n = 0; n < m->nblock; n++) {
        const block *b = &m->blocks[n];
        if (b->owner != m->rank)
            continue;
        for (int k = 0; k < EDGE * EDGE * NVAR; k++) {
            uint64_t bits;
            mine[k % NVAR] += llround(b->u[k] * (b->level ? 0x1p38 : 0x1p40));
            top = fmax(top, b->u[k]);
            memcpy(&bits, &b->u[k], sizeof bits);
            sum += bits * (2 * ((uint64_t)n * EDGE * EDGE * NVAR + (uint64_t)k) + 1);
        }
    }
    MPI_Allreduce(mine, all, NVAR, MPI_LONG_LONG, MPI_SUM, m->comm);
    MPI_Allreduce(&sum, checksum, 1, MPI_UINT64_T, MPI_SUM, m->comm);
    MPI_Allreduce(&top, &highest, 1, MPI_DOUBLE, MPI_MAX, m->comm);
    return highest;
}

int main(int argc, char **argv)
{
    mesh m;
    long long start[NVAR], end[NVAR];
    uint64_t sum;

    MPI_Init(&argc, &argv);
    m.comm = MPI_COMM_WORLD;
    MPI_Comm_rank(m.comm, &m.rank);
    MPI_Comm_size(m.comm, &m.size);
    int roots = argc > 1 ? atoi(argv[1]) : 16;
    int steps = argc > 2 ? atoi(argv[2]) : 300;
    if (roots < 4 || roots > 256 || steps < 0 || roots * roots < m.size) {
        fprintf(stderr, "usage: amr [ROOTS [STEPS]], ROOTS from 4 to 256 blocks, as many blocks as ranks\n");
        MPI_Finalize();
        return 2;
    }
    mesh_make(&m, roots);
    exchange_setup(&m);
    start_values(&m);
    double before = totals(&m, start, &sum);

    double spent = 0.0, began = MPI_Wtime();
    for (int t = 0; t < steps; t++) {
        double now = MPI_Wtime();
        exchange_faces(&m);
        spent += MPI_Wtime() - now;
        step(&m, 0.05 / (4 * NVAR));
    }
    double times[2] = { spent, MPI_Wtime() - began }, longest[2];
    double after = totals(&m, end, &sum);
    MPI_Reduce(times, longest, 2, MPI_DOUBLE, MPI_MAX, 0, m.comm);

    int passed = after <= before * (1 + 1e-12);
    double cells = (double)roots * roots * EDGE * EDGE;
    for (int v = 0; v < NVAR; v++)
        passed = passed && fabs((double)(end[v] - start[v])) * 0x1p-40 <= TOLERANCE * cells;
    if (m.rank == 0) {
        printf("amr: %d blocks of %d x %d cells, %d steps\n", m.nblock, EDGE, EDGE, steps);
        printf("largest value: %.12g, at the start %.12g\n", after, before);
        for (int v = 0; v < NVAR; v += NVAR - 1)
            printf("species %d: %.12g, at the start %.12g\n", v, (double)end[v] * 0x1p-40, (double)start[v] * 0x1p-40);
        printf("checksum: %016llx\n", (unsigned long long)sum);
        printf("time exchange: %.6f s\n", longest[0]);
        printf("time total: %.6f s\n", longest[1]);
        printf("verification: %s\n", passed ? "PASSED" : "FAILED");
    }
    exchange_end(&m);
    free(m.partner);
    mesh_free(&m);
    MPI_Finalize();
    return passed ? 0 : 1;
}
