/* An atomic exchange returns what an element of the buffer was when it was sent. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static long in[N], out[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = i + step;
            MPI_Send(out, N, MPI_LONG, 1, 7, MPI_COMM_WORLD); //~ keep(out) OPI101
            total += __atomic_exchange_n(&out[5], 7, __ATOMIC_SEQ_CST);
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_LONG, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                total += in[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
