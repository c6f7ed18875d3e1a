/* BT: a flow on its way to the steady state, each step split into block
 * tridiagonal systems along the three axes (NAS report RNR-94-007, section 3;
 * NPB 2 and 3 for the classes).  Checked are the published norms of the rate of
 * change and of the error. */
#include "bt.h"

#include <stdio.h>

static void new_rates(void)
{
    exchange_faces();
    for (int n = 0; n < width; n++)
        rate_of_change(&cells[n]);
}

/* r *= dt before a step; u += r after it. */
static void scale(double dt)
{
    for (int n = 0; n < width; n++) {
        const cell_t *c = &cells[n];
        for (int k = 0; k < c->n[2]; k++)
            for (int j = 0; j < c->n[1]; j++)
                for (int i = 0; i < c->n[0]; i++)
                    for (int m = 0; m < NQ; m++)
                        c->r[AT(c, i, j, k) + m] *= dt;
    }
}

static void add(void)
{
    for (int n = 0; n < width; n++) {
        const cell_t *c = &cells[n];
        for (int k = 0; k < c->n[2]; k++)
            for (int j = 0; j < c->n[1]; j++)
                for (int i = 0; i < c->n[0]; i++)
                    for (int m = 0; m < NQ; m++)
                        c->u[AT(c, i, j, k) + m] += c->r[AT(c, i, j, k) + m];
    }
}

int main(int argc, char **argv)
{
    int good;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    const class_t *c = find_class(argc > 1 ? argv[1][0] : 'S');
    points = c ? c->points : 0;
    if (!c || !make_cells()) {
        if (rank == 0)
            fprintf(stderr, "usage: bt [S|W|A|B], on a square number of ranks, at least 3 points each along an axis\n");
        MPI_Finalize();
        return 2;
    }

    exchange_init();
    solve_init();
    for (int n = 0; n < width; n++) {
        make_force(&cells[n]);
        initial_flow(&cells[n]);
    }
    double start = MPI_Wtime();
    new_rates();
    for (int step = 0; step < c->steps; step++) {
        scale(c->dt);
        for (int axis = 0; axis < 3; axis++)
            solve(axis, c->dt);
        add();
        new_rates();
    }
    report("bt", c->name, c->steps, c->rate, c->error, MPI_Wtime() - start, &good);

    solve_finish();
    exchange_finish();
    free_cells();
    MPI_Finalize();
    return good ? 0 : 1;
}
