/* The same with a member of a struct. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2500

static double *smooth(const double *u, int n)
{
    double *v = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++)
        v[i] = u[i] + 0.5 * u[(i + 1) % n];
    return v;
}

struct grid {
    double *u;
    int steps;
};
static struct grid g;

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    g.u = malloc(N * sizeof(double));
    if (rank == 0) {
        double *out = malloc(N * sizeof(double));
        for (int i = 0; i < N; i++) {
            out[i] = 3.0 * i;
            g.u[i] = i;
        }
        MPI_Send(out, N, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD);
        free(out);
    } else {
        MPI_Recv(g.u, N, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(g.u)
    }
    g.u = smooth(g.u, N);
    g.steps++;
    for (int i = 0; i < N; i++)
        total += g.u[i] * (i % 7);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
