/* CG: the smallest eigenvalue of a sparse matrix by inverse iteration, each
 * step solved with conjugate gradients (NAS report RNR-94-007, section 2.3). */
#include "cg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define EPSILON 1e-10

static const class_t classes[] = {
    { 'S', 1400, 7, 15, 10.0, 8.5971775078648 },
    { 'W', 7000, 8, 15, 12.0, 10.362595087124 },
    { 'A', 14000, 11, 15, 20.0, 17.130235054029 },
    { 'B', 75000, 13, 75, 60.0, 22.712745482631 },
};

int main(int argc, char **argv)
{
    grid_t g;
    matrix_t a;
    const class_t *c = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &g.me);
    MPI_Comm_size(MPI_COMM_WORLD, &g.size);

    char name = argc > 1 ? argv[1][0] : 'S';
    for (int k = 0; k < (int)(sizeof classes / sizeof classes[0]); k++)
        if (classes[k].name == name)
            c = &classes[k];
    if (!c || !make_grid(&g, c->n)) {
        if (g.me == 0)
            fprintf(stderr, "usage: cg [S|W|A|B], on a power of two of ranks, at most 64\n");
        MPI_Finalize();
        return 2;
    }

    make_matrix(&a, &g, c);
    solve_init(&g);
    double *x = allocate(g.cols * sizeof *x), *z = allocate(g.cols * sizeof *z);
    for (int j = 0; j < g.cols; j++)
        x[j] = 1.0;

    double zeta = 0.0, start = MPI_Wtime();
    if (g.me == 0)
        printf("cg: class %c, order %d, %d iterations\n", name, c->n, c->iterations);
    for (int i = 1; i <= c->iterations; i++) {
        double norm = solve(&g, &a, x, z);
        zeta = c->shift + 1.0 / dot(&g, x, z);
        if (g.me == 0)
            printf("iteration %d: residual %.6e, zeta %.13f\n", i, norm, zeta);
        double scale = 1.0 / sqrt(dot(&g, z, z));
        for (int j = 0; j < g.cols; j++)
            x[j] = scale * z[j];
    }
    double spent = MPI_Wtime() - start, longest;
    MPI_Reduce(&spent, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    int good = fabs(zeta - c->zeta) / c->zeta <= EPSILON;
    if (g.me == 0) {
        printf("zeta: %.13f, want: %.13f\n", zeta, c->zeta);
        printf("time %.6f s\n", longest);
        printf("verification: %s\n", good ? "SUCCESSFUL" : "FAILED");
    }
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);

    free(x);
    free(z);
    free(a.start);
    free(a.col);
    free(a.value);
    solve_finish();
    MPI_Finalize();
    return good ? 0 : 1;
}
