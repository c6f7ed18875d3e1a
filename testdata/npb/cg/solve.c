/* Conjugate gradients: 25 steps towards z with A z = x. */
#include "cg.h"

#include <math.h>
#include <stdlib.h>

#define STEPS 25

static double *w, *q, *p, *r;

void solve_init(const grid_t *g)
{
    w = allocate(g->rows * sizeof *w);
    q = allocate(g->rows * sizeof *q);
    p = allocate(g->cols * sizeof *p);
    r = allocate(g->cols * sizeof *r);
}

void solve_finish(void)
{
    free(w);
    free(q);
    free(p);
    free(r);
}

/* The sum over the ranks of a row: at each stage two of them exchange theirs. */
static double row_sum(const grid_t *g, double sum)
{
    for (int s = g->stages - 1; s >= 0; s--) {
        double other;
        MPI_Request request;
        MPI_Irecv(&other, 1, MPI_DOUBLE, g->partner[s], 2, MPI_COMM_WORLD, &request);
        MPI_Send(&sum, 1, MPI_DOUBLE, g->partner[s], 2, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sum += other;
    }
    return sum;
}

double dot(const grid_t *g, const double *x, const double *y)
{
    double sum = 0.0;
    for (int j = 0; j < g->cols; j++)
        sum += x[j] * y[j];
    return row_sum(g, sum);
}

/* q = A v.  Each rank multiplies its block; the partial sums of a row of ranks
 * are added up in place, stage by stage, each stage sending the part of the
 * rows that the partner goes on with.  Then ranks across the diagonal swap
 * their parts, which are by rows, for the parts by columns. */
static void multiply(const grid_t *g, const matrix_t *a, const double *v)
{
    MPI_Request request;

    for (int i = 0; i < g->rows; i++) {
        double sum = 0.0;
        for (int k = a->start[i]; k < a->start[i + 1]; k++)
            sum += a->value[k] * v[a->col[k]];
        w[i] = sum;
    }

    for (int s = g->stages - 1; s >= 0; s--) {
        MPI_Irecv(q + g->keep_start, g->recv_count[s], MPI_DOUBLE, g->partner[s], 1, MPI_COMM_WORLD, &request);
        MPI_Send(w + g->send_start[s], g->send_count[s], MPI_DOUBLE, g->partner[s], 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = g->keep_start; i < g->keep_start + g->keep_count; i++)
            w[i] += q[i];
    }

    if (g->stages > 0) {
        MPI_Irecv(q, g->cols, MPI_DOUBLE, g->swap, 1, MPI_COMM_WORLD, &request);
        MPI_Send(w + g->keep_start, g->keep_count, MPI_DOUBLE, g->swap, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        for (int i = 0; i < g->cols; i++)
            q[i] = w[i];
    }
}

/* Returns the norm of x - A z. */
double solve(const grid_t *g, const matrix_t *a, const double *x, double *z)
{
    for (int j = 0; j < g->cols; j++) {
        z[j] = 0.0;
        r[j] = x[j];
        p[j] = x[j];
    }
    double rho = dot(g, r, r);

    for (int step = 0; step < STEPS; step++) {
        multiply(g, a, p);
        double alpha = rho / dot(g, p, q);
        for (int j = 0; j < g->cols; j++) {
            z[j] += alpha * p[j];
            r[j] -= alpha * q[j];
        }
        double before = rho;
        rho = dot(g, r, r);
        double beta = rho / before;
        for (int j = 0; j < g->cols; j++)
            p[j] = r[j] + beta * p[j];
    }

    multiply(g, a, z);
    for (int j = 0; j < g->cols; j++)
        r[j] = x[j] - q[j];
    return sqrt(dot(g, r, r));
}
