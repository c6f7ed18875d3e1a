/* It writes what it handed out before, too, and counts its calls. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *g;
static int calls;

static double *again(int n, int turn)
{
    calls++;
    if (turn > 0)
        g[0] = 1.0;
    double *p = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++)
        p[i] = 0.0;
    return p;
}

int main(int argc, char **argv)
{
    int rank, n = 300;
    double sum = 0.0;
    static double in[300];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3 && rank < 2; t++) {
        g = again(n, t);
        if (rank == 0) {
            for (int i = 0; i < n; i++)
                g[i] = 0.5 * i * rank + t;
            MPI_Send(g, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(g)
        } else {
            MPI_Recv(in, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < n; i++)
                sum += in[i] * (i % 7);
        }
    }
    printf("%d %d %.17g\n", rank, calls, sum);
    free(g);
    MPI_Finalize();
    return 0;
}
