/* Pointers from malloc held in a struct. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

struct link {
    double *out;
    double *in;
    int n;
};

static struct link ln;

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ln.n = N;
    ln.out = malloc(ln.n * sizeof *ln.out);
    ln.in = malloc(ln.n * sizeof *ln.in);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int i = 0; i < ln.n; i++)
            ln.out[i] = 2.0 * u[i];
        MPI_Send(ln.out, ln.n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(ln.out)
    } else if (rank == 1) {
        MPI_Recv(ln.in, ln.n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(ln.in)
        for (int i = 0; i < ln.n; i++)
            v[i] = ln.in[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    free(ln.out);
    free(ln.in);
    MPI_Finalize();
    return 0;
}
