/* The function that frees asks first whether there is what it frees. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static double u[2 * N], **out = NULL, **in = NULL;

static double **table(int rows, int cols)
{
    double *data = (double *)malloc(rows * cols * sizeof(double));
    double **t = (double **)malloc(rows * sizeof(double *));

    for (int i = 0; i < rows; i++)
        t[i] = &(data[cols * i]);
    return t;
}

static void drop(double **t)
{
    if (t != NULL) {
        if (t[0] != NULL) {
            free(t[0]);
        }
        free(t);
    }
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
    if ((out = table(2, n)) == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if ((in = table(2, n)) == NULL)
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
