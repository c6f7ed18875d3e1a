/* Heat conduction on a square with zero boundary: Jacobi's 5-point stencil in
 * strips of rows.  The ghost rows lie in the grid itself, beside the rows they
 * continue, and are exchanged there: nothing is packed. */
#define _POSIX_C_SOURCE 200112L
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NU 0.2                  /* diffusivity * dt / h^2 */
#define TOLERANCE 1e-11

static const double pi = 3.14159265358979323846;

typedef struct {
    int rank, size, up, down;   /* neighbours; MPI_PROC_NULL beyond the border */
    int n;                      /* points along an edge of the square */
    int rows, first;            /* rows of this rank, and the first one's number, from 1 */
    double *u, *v;              /* this step and the next: rows + 2 rows of n + 2 points */
} strip;

static double *row(const strip *s, double *grid, int i)
{
    return grid + (size_t)i * (size_t)(s->n + 2);
}

static double mode(const strip *s, int i, int j)
{
    return sin(pi * i / (s->n + 1)) * sin(2.0 * pi * j / (s->n + 1));
}

static void setup(strip *s, int n)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &s->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s->size);
    s->up = s->rank > 0 ? s->rank - 1 : MPI_PROC_NULL;
    s->down = s->rank < s->size - 1 ? s->rank + 1 : MPI_PROC_NULL;
    s->n = n;
    s->rows = n / s->size + (s->rank < n % s->size);
    s->first = 1 + s->rank * (n / s->size) + (s->rank < n % s->size ? s->rank : n % s->size);
    s->u = calloc((size_t)(s->rows + 2) * (size_t)(n + 2), sizeof *s->u);
    s->v = calloc((size_t)(s->rows + 2) * (size_t)(n + 2), sizeof *s->v);
    if (!s->u || !s->v) {
        fprintf(stderr, "stencil: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 1; i <= s->rows; i++)
        for (int j = 1; j <= n; j++)
            row(s, s->u, i)[j] = mode(s, s->first + i - 1, j);
}

static void exchange_ghost_rows(strip *s)
{
    double *u = s->u;
    int n = s->n;

    MPI_Sendrecv(row(s, u, 1) + 1, n, MPI_DOUBLE, s->up, 1,
                 row(s, u, s->rows + 1) + 1, n, MPI_DOUBLE, s->down, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(row(s, u, s->rows) + 1, n, MPI_DOUBLE, s->down, 2,
                 row(s, u, 0) + 1, n, MPI_DOUBLE, s->up, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void step(strip *s)
{
    for (int i = 1; i <= s->rows; i++) {
        const double *above = row(s, s->u, i - 1), *here = row(s, s->u, i), *below = row(s, s->u, i + 1);
        double *out = row(s, s->v, i);
        for (int j = 1; j <= s->n; j++)
            out[j] = here[j] + NU * ((above[j] + below[j]) + (here[j - 1] + here[j + 1]) - 4.0 * here[j]);
    }
    double *swap = s->u;
    s->u = s->v;
    s->v = swap;
}

int main(int argc, char **argv)
{
    strip s;

    MPI_Init(&argc, &argv);
    int n = argc > 1 ? atoi(argv[1]) : 1024;
    int steps = argc > 2 ? atoi(argv[2]) : 200;
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (n < size || n > 30000 || steps < 0) {
        fprintf(stderr, "usage: stencil [N [STEPS]], N at least the number of ranks\n");
        MPI_Finalize();
        return 2;
    }
    setup(&s, n);

    double start = MPI_Wtime(), spent = 0.0;
    for (int t = 0; t < steps; t++) {
        double before = MPI_Wtime();
        exchange_ghost_rows(&s);
        spent += MPI_Wtime() - before;
        step(&s);
    }
    double total = MPI_Wtime() - start;

    /* The sine mode is damped by the same factor in every step. */
    double factor = 1.0 + NU * (2.0 * cos(pi / (n + 1)) + 2.0 * cos(2.0 * pi / (n + 1)) - 4.0);
    double scale = pow(factor, steps), err = 0.0;
    uint64_t sum = 0;
    for (int i = 1; i <= s.rows; i++)
        for (int j = 1; j <= n; j++) {
            double x = row(&s, s.u, i)[j];
            uint64_t bits, where = (uint64_t)(s.first + i - 1) * (uint64_t)n + (uint64_t)j;
            err = fmax(err, fabs(x - scale * mode(&s, s.first + i - 1, j)));
            memcpy(&bits, &x, sizeof bits);
            sum += bits * (2 * where + 1);
        }
    double worst, times[2] = { spent, total }, longest[2];
    uint64_t checksum;
    MPI_Reduce(&err, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&sum, &checksum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(times, longest, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    int passed = 1;
    if (s.rank == 0) {
        passed = worst <= TOLERANCE;
        printf("stencil: %d x %d points, %d steps\n", n, n, steps);
        printf("largest error: %.17g\n", worst);
        printf("checksum: %016llx\n", (unsigned long long)checksum);
        printf("time exchange: %.6f s\n", longest[0]);
        printf("time total: %.6f s\n", longest[1]);
        printf("verification: %s\n", passed ? "PASSED" : "FAILED");
    }
    MPI_Bcast(&passed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(s.u);
    free(s.v);
    MPI_Finalize();
    return passed ? 0 : 1;
}
