/* The matrix: the sum of weighted outer products of random sparse vectors with
 * themselves, its eigenvalues spread between 0.1 and 1, minus the shift. */
#include "cg.h"
#include "../rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SEED  UINT64_C(314159265)
#define RCOND 0.1

/* Random sparse vectors, one after the other. */
typedef struct {
    int *count, *col;
    double *value;
} vectors_t;

void *allocate(size_t bytes)
{
    void *p = malloc(bytes > 0 ? bytes : 1);
    if (!p) {
        fprintf(stderr, "cg: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

/* One vector: places and values are drawn in turn, places that are too great
 * or already there are dropped; the vector's own place gets 0.5. */
static int make_vector(uint64_t *x, const class_t *c, int own, int power, int *col, double *value)
{
    int count = 0;

    while (count < c->nonzero) {
        double v = rng_next(x);
        int place = (int)(power * rng_next(x)), seen = place >= c->n;
        for (int k = 0; k < count && !seen; k++)
            seen = col[k] == place;
        if (!seen) {
            value[count] = v;
            col[count++] = place;
        }
    }
    for (int k = 0; k < count; k++)
        if (col[k] == own) {
            value[k] = 0.5;
            return count;
        }
    value[count] = 0.5;
    col[count] = own;
    return count + 1;
}

static void make_vectors(vectors_t *v, const class_t *c)
{
    uint64_t x = rng_skip(SEED, 1);
    int width = c->nonzero + 1, power = 1;

    while (power < c->n)
        power *= 2;
    v->count = allocate(c->n * sizeof *v->count);
    v->col = allocate((size_t)c->n * width * sizeof *v->col);
    v->value = allocate((size_t)c->n * width * sizeof *v->value);
    for (int i = 0; i < c->n; i++)
        v->count[i] = make_vector(&x, c, i, power, v->col + (size_t)i * width, v->value + (size_t)i * width);
}

/* Elements of one row with the same column become one, in place; the number left. */
static int merge_row(int *col, double *value, int count, int *where)
{
    int kept = 0;

    for (int k = 0; k < count; k++) {
        int j = col[k];
        if (where[j] >= 0) {
            value[where[j]] += value[k];
        } else {
            where[j] = kept;
            value[kept] = value[k];
            col[kept++] = j;
        }
    }
    for (int k = 0; k < kept; k++)
        where[col[k]] = -1;
    return kept;
}

void make_matrix(matrix_t *a, const grid_t *g, const class_t *c)
{
    vectors_t v;
    int width = c->nonzero + 1;
    make_vectors(&v, c);

    /* How many elements each local row has at most. */
    int *fill = allocate(g->rows * sizeof *fill), *start = allocate((g->rows + 1) * sizeof *start);
    for (int i = 0; i < g->rows; i++)
        fill[i] = 1;
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < v.count[i]; k++) {
            int row = v.col[(size_t)i * width + k] - g->first_row;
            if (row >= 0 && row < g->rows)
                fill[row] += v.count[i];
        }
    start[0] = 0;
    for (int i = 0; i < g->rows; i++) {
        start[i + 1] = start[i] + fill[i];
        fill[i] = start[i];
    }
    int *col = allocate(start[g->rows] * sizeof *col);
    double *value = allocate(start[g->rows] * sizeof *value);

    double size = 1.0, ratio = pow(RCOND, 1.0 / c->n);
    for (int i = 0; i < c->n; i++) {
        const int *vcol = v.col + (size_t)i * width;
        const double *vval = v.value + (size_t)i * width;
        for (int k = 0; k < v.count[i]; k++) {
            int row = vcol[k] - g->first_row;
            if (row < 0 || row >= g->rows)
                continue;
            for (int l = 0; l < v.count[i]; l++) {
                int j = vcol[l] - g->first_col;
                if (j < 0 || j >= g->cols)
                    continue;
                col[fill[row]] = j;
                value[fill[row]++] = size * vval[k] * vval[l];
            }
        }
        size *= ratio;
    }
    for (int i = 0; i < g->rows; i++) {
        int j = g->first_row + i - g->first_col;
        if (j >= 0 && j < g->cols) {
            col[fill[i]] = j;
            value[fill[i]++] = RCOND - c->shift;
        }
    }

    /* Merged rows move down to where they belong. */
    int *where = allocate(g->cols * sizeof *where), next = 0;
    for (int j = 0; j < g->cols; j++)
        where[j] = -1;
    for (int i = 0; i < g->rows; i++) {
        int from = start[i], kept = merge_row(col + from, value + from, fill[i] - from, where);
        start[i] = next;
        for (int k = 0; k < kept; k++) {
            col[next] = col[from + k];
            value[next++] = value[from + k];
        }
    }
    start[g->rows] = next;
    a->start = start;
    a->col = col;
    a->value = value;

    free(where);
    free(fill);
    free(v.count);
    free(v.col);
    free(v.value);
}
