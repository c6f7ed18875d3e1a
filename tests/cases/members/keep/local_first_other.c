/* Which pointer the memory is for is told by a number; the other one is freed elsewhere. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int get(int n, int kind, double **p, double **q)
{
    double *t = malloc(n * sizeof *t);

    t[0] = 0.0;
    if (kind == 0)
        *p = t;
    else
        *q = t;
    return n;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    double *out = NULL, *work = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    get(N, 0, &out, &work);
    get(N, 1, &out, &work);
    work[5] = rank;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = u[i] + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out)
        } else if (rank == 1) {
            MPI_Recv(v, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    total += work[5];
    free(work);
    free(out);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
