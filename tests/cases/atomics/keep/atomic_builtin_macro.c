/* How much is packed comes from an atomic operation that a macro makes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

#define NEXT(p) __sync_add_and_fetch(p, 1)

static double in[N], out[N];
static int count;

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    count = N - 2;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0, n = NEXT(&count); i < n; i++)
                out[i] = i + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out) OPI102
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                total += in[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
