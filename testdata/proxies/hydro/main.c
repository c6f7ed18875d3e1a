/* Energy is put into the middle of a gas at rest.  Mass and energy must be kept,
 * momentum must stay zero. */
#define _POSIX_C_SOURCE 200112L
#include "hydro.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COURANT 0.25
#define TOLERANCE 1e-10         /* of mass and energy per cell */

void stop(const char *message)
{
    fprintf(stderr, "hydro: %s\n", message);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void make_brick(brick *b, int edge)
{
    b->comm = MPI_COMM_WORLD;
    MPI_Comm_rank(b->comm, &b->rank);
    MPI_Comm_size(b->comm, &b->size);
    for (int k = 0; k < 3; k++)
        b->grid[k] = 0;
    MPI_Dims_create(b->size, 3, b->grid);
    b->place[2] = b->rank % b->grid[2];
    b->place[1] = b->rank / b->grid[2] % b->grid[1];
    b->place[0] = b->rank / b->grid[2] / b->grid[1];
    size_t cells = 1;
    for (int k = 0; k < 3; k++) {
        b->first[k] = (int)((long)edge * b->place[k] / b->grid[k]);
        b->n[k] = (int)((long)edge * (b->place[k] + 1) / b->grid[k]) - b->first[k];
        if (b->n[k] < 1)
            stop("fewer cells than ranks along a dimension");
        cells *= (size_t)b->n[k] + 2;
    }
    for (int f = 0; f < NFIELD; f++) {
        b->field[f] = calloc(cells, sizeof(double));
        b->next[f] = calloc(cells, sizeof(double));
        if (!b->field[f] || !b->next[f])
            stop("out of memory");
    }
    for (int i = 1; i <= b->n[0]; i++)
        for (int j = 1; j <= b->n[1]; j++)
            for (int k = 1; k <= b->n[2]; k++) {
                double x = (b->first[0] + i - 0.5) / edge - 0.5, y = (b->first[1] + j - 0.5) / edge - 0.45;
                double z = (b->first[2] + k - 0.5) / edge - 0.4;
                b->field[0][CELL(b, i, j, k)] = 1.0;
                b->field[4][CELL(b, i, j, k)] = 0.25 + 10.0 * exp(-100.0 * (x * x + y * y + z * z));
            }
}

/* Sums over all cells in units of 2^-40: they do not depend on the order. */
static void totals(const brick *b, long long all[NFIELD])
{
    long long mine[NFIELD] = { 0 };
    for (int f = 0; f < NFIELD; f++)
        for (int i = 1; i <= b->n[0]; i++)
            for (int j = 1; j <= b->n[1]; j++)
                for (int k = 1; k <= b->n[2]; k++)
                    mine[f] += llround(b->field[f][CELL(b, i, j, k)] * 0x1p40);
    MPI_Allreduce(mine, all, NFIELD, MPI_LONG_LONG, MPI_SUM, b->comm);
}

static uint64_t checksum(const brick *b, int edge)
{
    uint64_t sum = 0, total;
    for (int f = 0; f < NFIELD; f++)
        for (int i = 1; i <= b->n[0]; i++)
            for (int j = 1; j <= b->n[1]; j++)
                for (int k = 1; k <= b->n[2]; k++) {
                    uint64_t bits, where = (uint64_t)f * edge + (uint64_t)(b->first[0] + i);
                    where = (where * edge + (uint64_t)(b->first[1] + j)) * edge + (uint64_t)(b->first[2] + k);
                    memcpy(&bits, &b->field[f][CELL(b, i, j, k)], sizeof bits);
                    sum += bits * (2 * where + 1);
                }
    MPI_Allreduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, b->comm);
    return total;
}

int main(int argc, char **argv)
{
    brick b;
    long long start[NFIELD], end[NFIELD];

    MPI_Init(&argc, &argv);
    int edge = argc > 1 ? atoi(argv[1]) : 32;
    int steps = argc > 2 ? atoi(argv[2]) : 20;
    if (edge < 2 || edge > 200 || steps < 0) {
        fprintf(stderr, "usage: hydro [EDGE [STEPS]], EDGE from 2 to 200 cells\n");
        MPI_Finalize();
        return 2;
    }
    make_brick(&b, edge);
    exchange_setup(&b);
    totals(&b, start);

    double spent = 0.0, time = 0.0, began = MPI_Wtime();
    for (int t = 0; t < steps; t++) {
        double mine = fastest(&b), wave, before = MPI_Wtime();
        MPI_Allreduce(&mine, &wave, 1, MPI_DOUBLE, MPI_MAX, b.comm);
        exchange_ghosts(&b);
        spent += MPI_Wtime() - before;
        advance(&b, COURANT / wave);
        time += COURANT / wave / edge;
    }
    double times[2] = { spent, MPI_Wtime() - began }, longest[2];
    totals(&b, end);
    uint64_t sum = checksum(&b, edge);
    MPI_Reduce(times, longest, 2, MPI_DOUBLE, MPI_MAX, 0, b.comm);

    int passed = 1;
    double cells = (double)edge * edge * edge;
    for (int f = 0; f < NFIELD; f++)
        passed = passed && fabs((double)(end[f] - start[f])) * 0x1p-40 <= TOLERANCE * cells;
    if (b.rank == 0) {
        printf("hydro: %d^3 cells, %d steps, time %.12g\n", edge, steps, time);
        printf("mass: %.12g\n", (double)end[0] * 0x1p-40);
        printf("energy: %.12g, at the start %.12g\n", (double)end[4] * 0x1p-40, (double)start[4] * 0x1p-40);
        printf("checksum: %016llx\n", (unsigned long long)sum);
        printf("time exchange: %.6f s\n", longest[0]);
        printf("time total: %.6f s\n", longest[1]);
        printf("verification: %s\n", passed ? "PASSED" : "FAILED");
    }
    exchange_end();
    for (int f = 0; f < NFIELD; f++) {
        free(b.field[f]);
        free(b.next[f]);
    }
    MPI_Finalize();
    return passed ? 0 : 1;
}
