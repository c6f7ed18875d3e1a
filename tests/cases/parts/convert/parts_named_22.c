/* A pointer walks along memory that a function hands out, which may return NULL. */
#define _POSIX_C_SOURCE 200112L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <assert.h>

#define N 2048

static double u[N], v[N];
static int alignment(void)
{
    char *text = getenv("MY_ALIGNMENT");
    int a = text != NULL ? atoi(text) : 64;

    if (a < 8)
        a = 8;
    assert((a & (~a + 1)) == a);
    return a;
}

static inline void *get(size_t bytes)
{
    int a = alignment();
    void *p = NULL;
    int code = posix_memalign(&p, a, bytes);

    if (code)
        p = NULL;
    return p;
}

static inline void done(void *p)
{
    free(p);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *b = (double *)get(sizeof(double) * 2 * N), *r;
    if (b == NULL) {
        fprintf(stderr, "no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    r = b + N;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            double *to = b;
            for (int i = 0; i < N; i++)
                *to++ = u[i] + step;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(r)
            for (int i = 0; i < N; i++)
                v[i] += r[i];
        }
    }
    free(b);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
