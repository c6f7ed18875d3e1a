/* A comparison that fails writes what it expected, by which the packing loop counts. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static double in[N], out[N];
static int flag;

int main(int argc, char **argv)
{
    int rank, n;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            n = N;
            __atomic_compare_exchange_n(&flag, &n, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
            for (int i = 0; i < n; i++)
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
