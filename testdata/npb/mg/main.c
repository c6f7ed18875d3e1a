/* MG: V-cycles of multigrid towards the potential of twenty charges (NAS report
 * RNR-94-007, section 2.2).  Checked is the published norm of the residual. */
#include "mg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define EPSILON 1e-8

static const class_t classes[] = {
    { 'S', 5, 4, { -3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0 }, 0.5307707005734e-04 },
    { 'W', 7, 4, { -3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0 }, 0.6467329375339e-05 },
    { 'A', 8, 4, { -3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0 }, 0.2433365309069e-05 },
    { 'B', 8, 20, { -3.0 / 17.0, 1.0 / 33.0, -1.0 / 61.0 }, 0.1800564401355e-05 },
};

static double *u[MAXLEVEL + 1], *r[MAXLEVEL + 1];

static void clear(const level_t *l, double *field)
{
    size_t count = AT(l, l->n[0] + 1, l->n[1] + 1, l->n[2] + 1) + 1;
    for (size_t i = 0; i < count; i++)
        field[i] = 0.0;
}

/* Down to the coarsest grid with the residual, up again with the correction. */
static void v_cycle(const class_t *c, const double *v)
{
    for (int k = c->top; k > 1; k--)
        restriction(&levels[k], r[k], &levels[k - 1], r[k - 1]);

    clear(&levels[1], u[1]);
    smooth(&levels[1], r[1], u[1], c->smooth);
    for (int k = 2; k < c->top; k++) {
        clear(&levels[k], u[k]);
        interpolate(&levels[k - 1], u[k - 1], &levels[k], u[k]);
        residual(&levels[k], u[k], r[k], r[k]);
        smooth(&levels[k], r[k], u[k], c->smooth);
    }
    interpolate(&levels[c->top - 1], u[c->top - 1], &levels[c->top], u[c->top]);
    residual(&levels[c->top], u[c->top], v, r[c->top]);
    smooth(&levels[c->top], r[c->top], u[c->top], c->smooth);
}

int main(int argc, char **argv)
{
    const class_t *c = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    char name = argc > 1 ? argv[1][0] : 'S';
    for (int k = 0; k < (int)(sizeof classes / sizeof classes[0]); k++)
        if (classes[k].name == name)
            c = &classes[k];
    if (!c || !make_grid(c->top)) {
        if (rank == 0)
            fprintf(stderr, "usage: mg [S|W|A|B], on 1, 2, 4 or 8 ranks\n");
        MPI_Finalize();
        return 2;
    }

    const level_t *top = &levels[c->top];
    exchange_init(c->top);
    for (int k = 1; k <= c->top; k++) {
        u[k] = new_field(&levels[k]);
        r[k] = new_field(&levels[k]);
    }
    double *v = new_field(top), points = pow(2.0, 3.0 * c->top);
    set_charges(top, v);

    double start = MPI_Wtime();
    residual(top, u[c->top], v, r[c->top]);
    double first = norm(top, r[c->top], points);
    for (int cycle = 0; cycle < c->cycles; cycle++) {
        v_cycle(c, v);
        residual(top, u[c->top], v, r[c->top]);
    }
    double last = norm(top, r[c->top], points);
    double spent = MPI_Wtime() - start, longest;
    MPI_Reduce(&spent, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    int good = fabs(last - c->norm) / c->norm <= EPSILON;
    if (rank == 0) {
        printf("mg: class %c, 2^%d points along each axis, %d cycles\n", name, c->top, c->cycles);
        printf("norm of the residual before: %.13e\n", first);
        printf("norm of the residual: %.13e, want: %.13e\n", last, c->norm);
        printf("time %.6f s\n", longest);
        printf("verification: %s\n", good ? "SUCCESSFUL" : "FAILED");
    }

    for (int k = 1; k <= c->top; k++) {
        free(u[k]);
        free(r[k]);
    }
    free(v);
    exchange_finish();
    MPI_Finalize();
    return good ? 0 : 1;
}
