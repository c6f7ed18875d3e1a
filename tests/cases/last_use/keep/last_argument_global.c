/* A function in an argument sets the pointer, which all know: C says nothing of the order. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int calls;

static double *made(int n, int k);
static double *a, *spare;

static int next(int n)
{
    double *old = spare;
    spare = a;
    a = old ? old : made(n, 7);
    return n;
}

static double *made(int n, int k)
{
    double *c = malloc((n + 1) * sizeof *c);
    for (int i = 0; i <= n; i++)
        c[i] = k + i;
    return c;
}

int main(int argc, char **argv)
{
    int rank, n = 100;
    double s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            a = made(n + t, rank + t);
            MPI_Send(a, next(n), MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep
            free(a);
        } else if (rank == 1) {
            double *b = malloc(200 * sizeof *b), *c;
            MPI_Recv(b, 200, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            c = b;
            s += c[n - 3];
            free(c);
        }
    }
    printf("%d %.17g %d\n", rank, s, calls);
    MPI_Finalize();
    return 0;
}
