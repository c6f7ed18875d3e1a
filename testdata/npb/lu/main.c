/* LU: a flow driven to its steady state by symmetric successive over-relaxation
 * (NAS report RNR-94-007, section 3; NPB 2 and 3 for the classes).  Checked are
 * the published norms of the rate of change and of the error, and a surface
 * integral. */
#include "lu.h"

#include <math.h>
#include <stdio.h>

#define OMEGA 1.2

/* Along an axis the ends of an integral count half of what lies between. */
static double weight(int g, int first, int last)
{
    return g < first || g > last ? 0.0 : g == first || g == last ? 1.0 : 2.0;
}

/* The pressure, integrated over the surface of a box inside the cube. */
static double surface_integral(const cell_t *c)
{
    const int first[3] = { 1, 1, 2 }, last[3] = { points - 2, points - 3, points - 2 };
    double sum = 0.0, total, h = 1.0 / (points - 1);

    for (int k = 0; k < c->n[2]; k++)
        for (int j = 0; j < c->n[1]; j++)
            for (int i = 0; i < c->n[0]; i++) {
                int g[3] = { c->lo[0] + i, c->lo[1] + j, c->lo[2] + k };
                double w = 0.0;
                for (int a = 0; a < 3; a++) {
                    int b = (a + 1) % 3, d = (a + 2) % 3;
                    if (g[a] == first[a] || g[a] == last[a])
                        w += weight(g[b], first[b], last[b]) * weight(g[d], first[d], last[d]);
                }
                if (w == 0.0)
                    continue;
                const double *u = c->u + AT(c, i, j, k);
                sum += w * C2 * (u[4] - 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / u[0]);
            }
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return 0.25 * h * h * total;
}

static void norms(const double mine[NQ], double norm[NQ])
{
    MPI_Allreduce(mine, norm, NQ, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int m = 0; m < NQ; m++)
        norm[m] = sqrt(norm[m] / pow(points - 2, 3.0));
}

/* What each point takes of the solution, or what the sweeps begin with. */
static void scale_rates(const cell_t *c, double dt)
{
    for (int k = 1; k < points - 1; k++)
        for (int j = 0; j < c->n[1]; j++)
            for (int i = 0; i < c->n[0]; i++)
                for (int m = 0; m < NQ; m++)
                    c->r[AT(c, i, j, k) + m] *= dt;
}

static void add_solution(const cell_t *c)
{
    for (int k = 1; k < points - 1; k++)
        for (int j = 0; j < c->n[1]; j++)
            for (int i = 0; i < c->n[0]; i++)
                for (int m = 0; m < NQ; m++)
                    c->u[AT(c, i, j, k) + m] += c->r[AT(c, i, j, k) + m] / (OMEGA * (2.0 - OMEGA));
}

int main(int argc, char **argv)
{
    cell_t cell;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    const class_t *c = find_class(argc > 1 ? argv[1][0] : 'S');
    points = c ? c->points : 0;
    if (!c || !make_grid(&cell)) {
        if (rank == 0)
            fprintf(stderr, "usage: lu [S|W|A|B], on a power of two of ranks, at least 3 x 3 points each\n");
        MPI_Finalize();
        return 2;
    }

    new_cell(&cell);
    exchange_init(&cell);
    make_force(&cell);
    initial_flow(&cell);

    double start = MPI_Wtime();
    exchange_faces(&cell, cell.u);
    rate_of_change(&cell);
    for (int step = 0; step < c->steps; step++) {
        scale_rates(&cell, c->dt);
        sweep(&cell, c->dt, 1);
        sweep(&cell, c->dt, 0);
        add_solution(&cell);
        exchange_faces(&cell, cell.u);
        rate_of_change(&cell);
    }
    double spent = MPI_Wtime() - start, longest;
    MPI_Reduce(&spent, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    double sum[NQ] = { 0.0 }, rate[NQ], error[NQ];
    add_rates(&cell, sum);
    norms(sum, rate);
    for (int m = 0; m < NQ; m++)
        sum[m] = 0.0;
    add_errors(&cell, sum);
    norms(sum, error);
    double surface = surface_integral(&cell);

    int good = 1;
    if (rank == 0) {
        printf("lu: class %c, %d points along each axis, %d steps\n", c->name, points, c->steps);
        good = agree("rate", rate, c->rate, NQ) & agree("error", error, c->error, NQ)
             & agree("surface", &surface, &c->surface, 1);
        printf("time %.6f s\n", longest);
        printf("verification: %s\n", good ? "SUCCESSFUL" : "FAILED");
    }
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);

    exchange_finish();
    free_cell(&cell);
    MPI_Finalize();
    return good ? 0 : 1;
}
