/* A function sets its caller's pointer, and keeps the memory in a variable of its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static long given;
static double *last;

static void grab(double **p, int n)
{
    (void)__func__; /* no other function has this text */
    *p = malloc(n * sizeof **p);
    last = *p;
    given += n;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    double *b, *r;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    grab(&b, N);
    grab(&r, N);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = u[i] + step;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(b)
        } else if (rank == 1) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(r)
            for (int i = 0; i < N; i++)
                v[i] += r[i];
        }
    }
    free(b);
    free(r);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g %ld %d\n", rank, total, given, last != NULL);
    MPI_Finalize();
    return 0;
}
