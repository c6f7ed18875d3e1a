/* Rows of three numbers an element, in tables that are made under one condition and freed under another. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static double u[2 * N];

static void **table(size_t nr, size_t nc, size_t size)
{
    void **t;
    size_t i;

    if ((t = (void **)calloc(nr, sizeof(void *))) == NULL)
        return NULL;
    if ((t[0] = (void *)calloc(nr * nc, size)) == NULL) {
        free((void *)t);
        return NULL;
    }
    for (i = 1; i < nr; i++)
        t[i] = (void *)((unsigned char *)t[0] + i * nc * size);
    return t;
}

static void drop(void *t)
{
    void **rows = (void **)t;

    free(rows[0]);
    free(t);
}

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    double **out, **in;
    if (!(out = (double **)table(2, 3 * n, sizeof(double))))
        exit(1);
    in = (double **)table(2, 3 * n, sizeof(double));
    if (in == NULL)
        exit(1);
    for (int step = 0; step < 3; step++) {
        MPI_Request rq[4];
        for (int d = 0; d < 2; d++)
            MPI_Irecv(in[d], 3 * n, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, &rq[d]); //~ take(in[d])
        for (int d = 0; d < 2; d++)
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                out[d][3 * i] = u[d * n + i], out[d][3 * i + 1] = i, out[d][3 * i + 2] = d;
        for (int d = 0; d < 2; d++)
            MPI_Isend(out[d], 3 * n, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, &rq[2 + d]); //~ give(out[d])
        MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);
        for (int d = 0; d < 2; d++)
            for (int i = 0; i < n; i++)
                u[d * n + i] += in[d][3 * i] * in[d][3 * i + 1] + in[d][3 * i + 2];
    }
    double total = 0.0;
    for (int i = 0; i < 2 * N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    if (out)
        drop(out);
    drop(in);
    MPI_Finalize();
    return 0;
}
