/* Explicit diffusion of NSPEC species with a 9-point stencil and zero boundary
 * values.  Every species starts as one sine mode, which the stencil damps by a
 * known factor per step: the result is compared with that. */
#define _POSIX_C_SOURCE 200112L
#include "halo2d.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-11

static const double pi = 3.14159265358979323846;

/* Stencil weights of one species: centre, face and corner neighbours. */
static double w_centre[NSPEC], w_face[NSPEC], w_corner[NSPEC];
static int mode_x[NSPEC], mode_y[NSPEC];

static void init_species(void)
{
    for (int s = 0; s < NSPEC; s++) {
        double nu = 0.02 + 0.15 * s / NSPEC;    /* diffusivity * dt / h^2 */
        w_face[s] = nu * 4.0 / 6.0;
        w_corner[s] = nu / 6.0;
        w_centre[s] = 1.0 - nu * 20.0 / 6.0;
        mode_x[s] = 1 + s % 4;
        mode_y[s] = 1 + s / 4 % 3;
    }
}

/* The sine mode of species s at global interior point (i, j), from 1. */
static double mode(int s, int i, int j, int gx, int gy)
{
    return sin(pi * mode_x[s] * i / (gx + 1)) * sin(pi * mode_y[s] * j / (gy + 1));
}

/* The factor by which one step damps that mode. */
static double damping(int s, int gx, int gy)
{
    double cx = cos(pi * mode_x[s] / (gx + 1));
    double cy = cos(pi * mode_y[s] / (gy + 1));
    return w_centre[s] + w_face[s] * 2.0 * (cx + cy) + w_corner[s] * 4.0 * cx * cy;
}

/* Split n points over p ranks; rank c gets *count points from *first on. */
static void split(int n, int p, int c, int *first, int *count)
{
    int base = n / p, extra = n % p;
    *count = base + (c < extra);
    *first = c * base + (c < extra ? c : extra);
}

static void step(const grid_t *g, const double *u, double *v)
{
    for (int i = 1; i <= g->nx; i++)
        for (int j = 1; j <= g->ny; j++) {
            const double *up = &u[AT(g, i - 1, j)];
            const double *mid = &u[AT(g, i, j)];
            const double *down = &u[AT(g, i + 1, j)];
            double *out = &v[AT(g, i, j)];
            for (int s = 0; s < NSPEC; s++) {
                double faces = (up[s] + down[s]) + (mid[s - NSPEC] + mid[s + NSPEC]);
                double corners = (up[s - NSPEC] + up[s + NSPEC])
                               + (down[s - NSPEC] + down[s + NSPEC]);
                out[s] = w_centre[s] * mid[s] + w_face[s] * faces + w_corner[s] * corners;
            }
        }
}

/* A sum of all bits, weighted with the global position: it does not depend on
 * the order of summation, so it is the same for every number of ranks. */
static uint64_t checksum(const grid_t *g, const double *u, int gy)
{
    uint64_t sum = 0;
    for (int i = 1; i <= g->nx; i++)
        for (int j = 1; j <= g->ny; j++)
            for (int s = 0; s < NSPEC; s++) {
                uint64_t where = ((uint64_t)(g->x0 + i) * gy + g->y0 + j) * NSPEC + s;
                uint64_t bits;
                memcpy(&bits, &u[AT(g, i, j) + s], sizeof bits);
                sum += bits * (2 * where + 1);
            }
    return sum;
}

static double *new_field(const grid_t *g)
{
    double *u = calloc((size_t)(g->nx + 2) * (g->ny + 2) * NSPEC, sizeof *u);
    if (!u) {
        fprintf(stderr, "halo2d: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return u;
}

int main(int argc, char **argv)
{
    int rank, size, dims[2] = { 0, 0 };
    grid_t g;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    int gx = argc > 1 ? atoi(argv[1]) : 256;
    int gy = argc > 2 ? atoi(argv[2]) : 256;
    int steps = argc > 3 ? atoi(argv[3]) : 300;

    MPI_Dims_create(size, 2, dims);
    g.px = dims[0];
    g.py = dims[1];
    g.cx = rank / g.py;
    g.cy = rank % g.py;
    split(gx, g.px, g.cx, &g.x0, &g.nx);
    split(gy, g.py, g.cy, &g.y0, &g.ny);
    if (gx < g.px || gy < g.py || steps < 0 || gx > MAXEDGE || gy > MAXEDGE) {
        if (rank == 0)
            fprintf(stderr, "usage: halo2d [NX [NY [STEPS]]], NX and NY at most %d "
                    "and not below the process grid\n", MAXEDGE);
        MPI_Finalize();
        return 2;
    }

    find_neighbours(&g);
    init_species();
    double *u = new_field(&g), *v = new_field(&g);
    for (int i = 1; i <= g.nx; i++)
        for (int j = 1; j <= g.ny; j++)
            for (int s = 0; s < NSPEC; s++)
                u[AT(&g, i, j) + s] = mode(s, g.x0 + i, g.y0 + j, gx, gy);

    double spent = 0.0;
    for (int t = 0; t < steps; t++) {
        /* Start together, so that the time is that of the exchange. */
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        exchange(&g, u);
        spent += MPI_Wtime() - start;

        step(&g, u, v);
        double *swap = u;
        u = v;
        v = swap;
    }

    double scale[NSPEC], err = 0.0, peak = 0.0;
    for (int s = 0; s < NSPEC; s++)
        scale[s] = pow(damping(s, gx, gy), steps);
    for (int i = 1; i <= g.nx; i++)
        for (int j = 1; j <= g.ny; j++)
            for (int s = 0; s < NSPEC; s++) {
                double x = u[AT(&g, i, j) + s];
                double want = scale[s] * mode(s, g.x0 + i, g.y0 + j, gx, gy);
                err = fmax(err, fabs(x - want));
                peak = fmax(peak, fabs(x));
            }

    double max_err, max_peak, max_spent;
    uint64_t sum = checksum(&g, u, gy), total;
    MPI_Reduce(&err, &max_err, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&peak, &max_peak, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&spent, &max_spent, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);

    int passed = 1;
    if (rank == 0) {
        passed = max_err <= TOLERANCE;
        printf("halo2d: %d x %d points, %d species, %d steps\n", gx, gy, NSPEC, steps);
        printf("peak: %.17g\n", max_peak);
        printf("largest error: %.17g\n", max_err);
        printf("checksum: %016llx\n", (unsigned long long)total);
        printf("time pack+exchange+unpack: %.6f s\n", max_spent);
        printf("verification: %s\n", passed ? "PASSED" : "FAILED");
    }
    MPI_Bcast(&passed, 1, MPI_INT, 0, MPI_COMM_WORLD);

    free(u);
    free(v);
    MPI_Finalize();
    return passed ? 0 : 1;
}
