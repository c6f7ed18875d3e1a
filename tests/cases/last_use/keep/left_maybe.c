/* The pointer is to other memory after the test on some ways only: nothing may be freed through it there. */
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

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    double *u;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    u = malloc(N * sizeof(double));
    u[0] = 0.5;
    if (rank == 0) {
        double *out = malloc(N * sizeof(double));
        for (int i = 0; i < N; i++) {
            out[i] = 3.0 * i;
            u[i] = i;
        }
        MPI_Send(out, N, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD);
        free(out);
    } else {
        MPI_Recv(u, N, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI215
    }
    if (total < argc)
        u = smooth(u, N);
    for (int i = 0; i < N; i++)
        total += u[i] * (i % 7);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
