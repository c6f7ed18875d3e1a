/* A function has another one free each of several blocks, one of which no message has. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 2048

static double u[N], v[N];

static void drop(double *p)
{
    free(p);
}

static void release(double *out, double *more, double *in)
{
    drop(out);
    drop(more);
    drop(in);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    double *left = malloc(N * sizeof(double));
    double *right = malloc(N * sizeof(double));
    double *more = calloc(N, sizeof(double));

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3 && rank < 2; step++) {
        MPI_Request q[2];
        for (int i = 0; i < N; i++)
            left[i] = u[i] + step;
        MPI_Irecv(right, N, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &q[0]); //~ take(right)
        MPI_Isend(left, N, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &q[1]); //~ give(left)
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] += right[i];
    }
    total += more[0];
    release(left, more, right);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
