/* The program has a function of its own that prints as printf does, and ends: for want of memory it is called. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static double u[2 * N], **out = NULL, **in = NULL;

static void fail(const char *format, ...)
{
    va_list list;
    FILE *err = stderr;

    fprintf(err, "fatal: ");
    va_start(list, format);
    vfprintf(err, format, list);
    va_end(list);
    fflush(err);
    exit(EXIT_FAILURE);
}

static void **table(size_t nr, size_t nc, size_t size)
{
    void **t;
    size_t i;

    if ((t = (void **)calloc(nr, sizeof(void *))) == NULL) {
        fail("no memory for %d rows\n", (int)nr);
        return NULL;
    }
    if ((t[0] = (void *)calloc(nr * nc, size)) == NULL) {
        free((void *)t);
        fail("no memory for %d rows of %d\n", (int)nr, (int)nc);
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
    double *p = (double *)&out[0][0];
    for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
        *(p++) = u[i];
}

static void pack_second(int n)
{
    double *p = (double *)&out[1][0];
    for (int i = 0; i < n; i++)
        *(p++) = u[n + i];
}

static void unpack(int n)
{
    double *p = &in[0][0], *q = &in[1][0];
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
    if ((out = (double **)table(2, n, sizeof(double))) == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if ((in = (double **)table(2, n, sizeof(double))) == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; step < 3; step++) {
        MPI_Request rq[4];
        MPI_Irecv(&in[0][0], n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ take(&in[0][0])
        MPI_Irecv(&in[1][0], n, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &rq[1]); //~ take(&in[1][0])
        pack_first(n);
        MPI_Isend(&out[0][0], n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[2]); //~ give(&out[0][0])
        pack_second(n);
        MPI_Isend(&out[1][0], n, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &rq[3]); //~ give(&out[1][0])
        MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);
        unpack(n);
    }
    double total = 0.0;
    for (int i = 0; i < 2 * N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    drop(out);
    drop(in);
    MPI_Finalize();
    return 0;
}
