/* Multiplies two matrices of small integers, so that every sum is exact, and
 * checks the product: with a vector, and some of its elements one by one. */
#define _POSIX_C_SOURCE 200112L
#include "cannon.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE 97               /* every SAMPLEth element is computed again */

static double element(int which, int i, int j)
{
    uint32_t h = (uint32_t)i * 2654435761u + (uint32_t)j * 40503u + (uint32_t)which * 97u;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    return (double)(h % 15) - 7.0;
}

static double *new_block(size_t count)
{
    double *block = calloc(count, sizeof *block);
    if (!block) {
        fprintf(stderr, "cannon: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return block;
}

static int gcd(int x, int y)
{
    return y ? gcd(y, x % y) : x;
}

static int make_torus(torus *t, int n)
{
    int dims[2] = { 0, 0 };
    MPI_Dims_create(t->size, 2, dims);
    t->p = dims[0];
    t->q = dims[1];
    t->i = t->rank / t->q;
    t->j = t->rank % t->q;
    t->left = t->i * t->q + (t->j + t->q - 1) % t->q;
    t->right = t->i * t->q + (t->j + 1) % t->q;
    t->up = (t->i + t->p - 1) % t->p * t->q + t->j;
    t->down = (t->i + 1) % t->p * t->q + t->j;
    t->n = n;
    t->panels = t->p / gcd(t->p, t->q) * t->q;
    if (n < t->panels || n % t->panels)
        return 0;
    t->width = n / t->panels;
    t->rows = n / t->p;
    t->cols = n / t->q;
    t->na = t->panels / t->q;
    t->nb = t->panels / t->p;
    return 1;
}

/* Panel k of A is held by the rank of its row with j = k - i at first: the skewed
 * start of Cannon's algorithm; B's likewise. */
static void fill(torus *t)
{
    size_t a_len = (size_t)t->na * t->rows * t->width, b_len = (size_t)t->nb * t->width * t->cols;
    t->a = new_block(a_len);
    t->a_next = new_block(a_len);
    t->b = new_block(b_len);
    t->b_next = new_block(b_len);
    t->c = new_block((size_t)t->rows * t->cols);
    for (int m = 0; m < t->na; m++) {
        int k = (t->i + t->j) % t->q + m * t->q;
        for (int i = 0; i < t->rows; i++)
            for (int j = 0; j < t->width; j++)
                t->a[((size_t)m * t->rows + i) * t->width + j] =
                    element(0, t->i * t->rows + i, k * t->width + j);
    }
    for (int m = 0; m < t->nb; m++) {
        int k = (t->i + t->j) % t->p + m * t->p;
        for (int i = 0; i < t->width; i++)
            for (int j = 0; j < t->cols; j++)
                t->b[((size_t)m * t->width + i) * t->cols + j] =
                    element(1, k * t->width + i, t->j * t->cols + j);
    }
}

static void multiply_all(torus *t, double *spent)
{
    for (int step = 0; step < t->panels; step++) {
        int k = (t->i + t->j + step) % t->panels;
        multiply(t->rows, t->width, t->cols, t->a + (size_t)(k / t->q) * t->rows * t->width,
                 t->b + (size_t)(k / t->p) * t->width * t->cols, t->c);
        double before = MPI_Wtime();
        if (step + 1 < t->panels)
            shift(t);
        *spent += MPI_Wtime() - before;
    }
}

/* Elements of C that are not what the definition says. */
static long wrong_elements(const torus *t)
{
    long wrong = 0;
    for (int i = 0; i < t->rows; i++)
        for (int j = 0; j < t->cols; j++) {
            int row = t->i * t->rows + i, col = t->j * t->cols + j;
            if (((long)row * t->n + col) % SAMPLE)
                continue;
            double sum = 0.0;
            for (int k = 0; k < t->n; k++)
                sum += element(0, row, k) * element(1, k, col);
            wrong += sum != t->c[(size_t)i * t->cols + j];
        }
    return wrong;
}

int main(int argc, char **argv)
{
    torus t;
    double spent = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &t.size);
    int n = argc > 1 ? atoi(argv[1]) : 768;
    int times = argc > 2 ? atoi(argv[2]) : 4;
    if (n < 1 || n > 20000 || times < 1 || !make_torus(&t, n)) {
        if (t.rank == 0)
            fprintf(stderr, "usage: cannon [N [TIMES]], N a multiple of the torus' edges\n");
        MPI_Finalize();
        return 2;
    }

    double total = 0.0;
    for (int k = 0; k < times; k++) {
        if (k > 0) {
            free(t.a);
            free(t.a_next);
            free(t.b);
            free(t.b_next);
            free(t.c);
        }
        fill(&t);
        double start = MPI_Wtime();
        multiply_all(&t, &spent);
        total += MPI_Wtime() - start;
    }

    long mine = wrong_elements(&t), wrong;
    int64_t trace = 0, sum, parts[2] = { 0, 0 }, all[2];
    for (int i = 0; i < t.rows; i++)
        for (int j = 0; j < t.cols; j++) {
            int64_t x = (int64_t)t.c[(size_t)i * t.cols + j];
            int64_t where = (int64_t)(t.i * t.rows + i) * n + t.j * t.cols + j;
            parts[0] += x;
            parts[1] += x * (where % 8191);
            trace += t.i * t.rows + i == t.j * t.cols + j ? x : 0;
        }
    double used[2] = { spent, total }, longest[2];
    MPI_Reduce(&mine, &wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&trace, &sum, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(parts, all, 2, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(used, longest, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    int passed = 1;
    if (t.rank == 0) {
        passed = wrong == 0;
        printf("cannon: matrices of order %d, %d times\n", n, times);
        printf("trace: %lld\n", (long long)sum);
        printf("sum of the elements: %lld\n", (long long)all[0]);
        printf("weighted with their places: %lld\n", (long long)all[1]);
        printf("wrong elements among those checked: %ld\n", wrong);
        printf("time exchange: %.6f s\n", longest[0]);
        printf("time total: %.6f s\n", longest[1]);
        printf("verification: %s\n", passed ? "PASSED" : "FAILED");
    }
    MPI_Bcast(&passed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(t.a);
    free(t.a_next);
    free(t.b);
    free(t.b_next);
    free(t.c);
    MPI_Finalize();
    return passed ? 0 : 1;
}
