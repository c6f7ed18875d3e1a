/* The panels go round: A along the rows of the torus, B along its columns. */
#include "cannon.h"

#include <stddef.h>

static void swap(double **x, double **y)
{
    double *t = *x;
    *x = *y;
    *y = t;
}

void shift(torus *t)
{
    MPI_Request rq[4];
    int n = 0;
    int a_len = t->na * t->rows * t->width, b_len = t->nb * t->width * t->cols;

    if (t->q > 1) {
        MPI_Irecv(t->a_next, a_len, MPI_DOUBLE, t->right, 1, MPI_COMM_WORLD, &rq[n++]);
        MPI_Isend(t->a, a_len, MPI_DOUBLE, t->left, 1, MPI_COMM_WORLD, &rq[n++]);
    }
    if (t->p > 1) {
        MPI_Irecv(t->b_next, b_len, MPI_DOUBLE, t->down, 2, MPI_COMM_WORLD, &rq[n++]);
        MPI_Isend(t->b, b_len, MPI_DOUBLE, t->up, 2, MPI_COMM_WORLD, &rq[n++]);
    }
    MPI_Waitall(n, rq, MPI_STATUSES_IGNORE);
    if (t->q > 1)
        swap(&t->a, &t->a_next);
    if (t->p > 1)
        swap(&t->b, &t->b_next);
}
