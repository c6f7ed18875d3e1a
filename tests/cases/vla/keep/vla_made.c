/* The length is counted up in the declaration. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    int n = N / 2 + argc;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double out[n++], in[n];

    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < n; i++)
                out[i] = u[i] + step;
            MPI_Send(out, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out) OPI114
        } else if (rank == 1) {
            MPI_Recv(in, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < n; i++)
                v[i] += in[i];
        }
    }
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
