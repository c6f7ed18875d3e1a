/* Several messages in one buffer: each function has one way of dividing it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 32
#define W MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

static double field[4 * N], total;
static int peer, three;

static void take_in(const double *b, int n)
{
    for (int i = 0; i < n; i++)
        total += b[i] * (i + 1);
}

/* two halves of one buffer */
static void halves(int n)
{
    double *s = malloc(2 * n * sizeof(double)), *r = malloc(2 * n * sizeof(double));
    for (int i = 0; i < n; i++) {
        s[i] = field[i];
        s[n + i] = field[n + i];
    }
    MPI_Sendrecv(s, n, MPI_DOUBLE, peer, 1, r, n, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    MPI_Sendrecv(s + n, n, MPI_DOUBLE, peer, 2, r + n, n, MPI_DOUBLE, peer, 2, W, IGNORE); //~ give(s) take(r)
    take_in(r, n);
    take_in(r + n, n);
    free(s);
    free(r);
}

/* one part for each direction, by its number times a size */
static void directions(int n)
{
    double *s = malloc(4 * n * sizeof(double)), *r = malloc(4 * n * sizeof(double));
    for (int d = 0; d < 4; d++) {
        memcpy(s + d * n, field + d * n, n * sizeof(double));
        MPI_Sendrecv(&s[d * n], n, MPI_DOUBLE, peer, d, &r[d * n], n, MPI_DOUBLE, peer, d, W, IGNORE); //~ give(s) take(r)
    }
    for (int d = 0; d < 4; d++)
        take_in(r + d * n, n);
    free(s);
    free(r);
}

/* two halves, both packed by one loop */
static void spanned(int n)
{
    double *s = malloc(2 * n * sizeof(double)), *r = malloc(2 * n * sizeof(double));
    for (int i = 0; i < 2 * n; i++)
        s[i] = field[i];
    MPI_Sendrecv(s, n, MPI_DOUBLE, peer, 1, r, n, MPI_DOUBLE, peer, 1, W, IGNORE); //~ keep(s) OPI102 take(r)
    MPI_Sendrecv(s + n, n, MPI_DOUBLE, peer, 2, r + n, n, MPI_DOUBLE, peer, 2, W, IGNORE); //~ keep(s) OPI104 take(r)
    take_in(r, n);
    take_in(r + n, n);
    free(s);
    free(r);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    three = argc + 2;
    for (int i = 0; i < 4 * N; i++)
        field[i] = rank * 100 + i * 0.5;
    halves(8 * three);
    directions(8 * three);
    spanned(8 * three);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
