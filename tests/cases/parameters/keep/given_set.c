/* The function sets the pointer that it was given: after that the parameter is another one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 500

static double u[3 * N], v[3 * N];
static double *box;
static double *mail = NULL;

static void open_boxes(int n)
{
    box = (double *)malloc(3 * n * sizeof(double));
    mail = (double *)malloc(3 * n * sizeof(double));
}

static void close_boxes(void)
{
    if (box != NULL)
        free(box);
    free(mail);
    box = NULL;
}

static double other[3 * N];

static void pack(double *to, int n)
{
    double *mine = box;
    box = other;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < n; i++)
            to[i + k * n] = u[i] * (k + 1);
    box = mine;
}

static void exchange(int peer, int n)
{
    MPI_Request rq[6];

    for (int k = 0; k < 3; k++)
        MPI_Irecv(&mail[k * n], n, MPI_DOUBLE, peer, k, MPI_COMM_WORLD, &rq[k]); 
    pack(box, n);
    for (int k = 2; k >= 0; k--)
        MPI_Isend(&box[k * n], n, MPI_DOUBLE, peer, k, MPI_COMM_WORLD, &rq[3 + k]); //~ keep(box)
    MPI_Waitall(6, rq, MPI_STATUSES_IGNORE);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < n; i++)
            v[k * N + i] += mail[k * n + i];
}

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3 * N; i++)
        u[i] = rank + 0.5 * i;
    open_boxes(n);
    for (int step = 0; step < 2; step++)
        exchange(1 - rank, n);
    close_boxes();
    double total = 0.0;
    for (int i = 0; i < 3 * N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
