/* Only the first row of each table is ever used. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static double u[2 * N], **out = NULL, **in = NULL;

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
    if ((out = (double **)table(2, n, sizeof(double))) == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if ((in = (double **)table(2, n, sizeof(double))) == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; step < 3; step++) {
        MPI_Request rq[2];
        MPI_Irecv(&in[0][0], n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ take(&in[0][0])
        for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
            out[0][i] = u[i];
        MPI_Isend(&out[0][0], n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ give(&out[0][0])
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            u[i] += in[0][i];
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
