/* A header says how wide what the table points to is; the other unit leaves that text out, this one compiles it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static float u[2 * N], **out = NULL, **in = NULL;
#define WITH_TABLE
#include "width.h"

int elsewhere(void);

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

static void pack_first(int n)
{
    float *p = (float *)&out[0][0];
    for (int i = 0; i < n; i++)
        *(p++) = u[i];
}

static void pack_second(int n)
{
    float *p = (float *)&out[1][0];
    for (int i = 0; i < n; i++)
        *(p++) = u[n + i];
}

static void unpack(int n)
{
    float *p = &in[0][0], *q = &in[1][0];
    for (int i = 0; i < n; i++) {
        u[i] += *(p++);
        u[n + i] += *(q++);
    }
}

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    if ((out = (float **)table(2, n, sizeof(float))) == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if ((in = (float **)table(2, n, sizeof(float))) == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; step < 3; step++) {
        MPI_Request rq[4];
        MPI_Irecv(&in[0][0], n, MPI_FLOAT, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); 
        MPI_Irecv(&in[1][0], n, MPI_FLOAT, 1 - rank, 1, MPI_COMM_WORLD, &rq[1]); 
        pack_first(n);
        MPI_Isend(&out[0][0], n, MPI_FLOAT, 1 - rank, 0, MPI_COMM_WORLD, &rq[2]); //~ keep
        pack_second(n);
        MPI_Isend(&out[1][0], n, MPI_FLOAT, 1 - rank, 1, MPI_COMM_WORLD, &rq[3]); //~ keep
        MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);
        unpack(n);
    }
    float total = 0.0;
    for (int i = 0; i < 2 * N; i++)
        total += u[i] * (i + 1);
    printf("%d: %g, %d of %d\n", rank, total, width(), elsewhere());
    drop(out);
    drop(in);
    MPI_Finalize();
    return 0;
}
