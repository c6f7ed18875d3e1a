/* One function frees what the pointers in a struct point to. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 2048

struct halo {
    double *left, *right;
};

static double u[N], v[N];
static struct halo h;

static void release(double *out, double *in)
{
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    h.left = malloc(N * sizeof(double));
    h.right = malloc(N * sizeof(double));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3 && rank < 2; step++) {
        MPI_Request q[2];
        for (int i = 0; i < N; i++)
            h.left[i] = u[i] + step;
        MPI_Irecv(h.right, N, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &q[0]); //~ take(h.right)
        MPI_Isend(h.left, N, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &q[1]); //~ give(h.left)
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] += h.right[i];
    }
    release(h.left, h.right);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
