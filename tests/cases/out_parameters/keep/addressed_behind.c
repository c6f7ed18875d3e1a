/* A pointer is set through its address, and read by its name. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double *out, *old, **at;

static double look(void)
{
    return old[1];
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    out = malloc(N * sizeof *out);
    at = &old;
    *at = out;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = u[i] + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out) OPI105
            total += look();
        } else if (rank == 1) {
            MPI_Recv(v, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    free(out);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
