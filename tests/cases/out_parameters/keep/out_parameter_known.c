/* The address of the pointer is known elsewhere: what the function finds there decides whether another buffer is read. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double *b, **where;
static int there;

static void make(int n, double **p)
{
    *p = malloc(n * sizeof **p);
    there += *where != NULL;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *x = malloc(N * sizeof *x);

    where = &b;
    make(N, &b);
    b[0] = 1.0;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                x[i] = u[i] + step;
            MPI_Send(x, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(x) OPI101
            if (there)
                v[0] += x[3];
        } else if (rank == 1) {
            MPI_Recv(v, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    v[1] += b[0];
    free(b);
    free(x);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
