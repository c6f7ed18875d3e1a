/* A function below a recursive one waits for all that it begins, whatever level it runs at. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int rank;

static void swap(int other, int n, double *x)
{
    double *s = malloc(n * sizeof *s), *r = malloc(n * sizeof *r);
    MPI_Request request[2];

    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
            s[i] = x[i] + k;
        MPI_Irecv(r, n, MPI_DOUBLE, other, 7, MPI_COMM_WORLD, &request[0]); //~ take(r)
        MPI_Isend(s, n, MPI_DOUBLE, other, 7, MPI_COMM_WORLD, &request[1]); //~ give(s)
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            x[i] = 0.5 * (x[i] + r[i]) + i;
    }
    free(s);
    free(r);
}

static void level(int other, int n, int depth, double *x)
{
    swap(other, n, x);
    if (depth > 0) {
        level(other, n / 2, depth - 1, x);
        swap(other, n, x);
    }
}

int main(int argc, char **argv)
{
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank < 2)
        level(1 - rank, N, 3, u);
    for (int i = 0; i < N; i++)
        total += (u[i] + v[i]) * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
