/* The address of the buffer is stored in two halves by atomic operations. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static double in[N];
static uint32_t half[2];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *out = malloc(N * sizeof *out);
    __sync_fetch_and_add(&half[0], (uint32_t)(uintptr_t)out);
    __atomic_store_n(&half[1], (uint32_t)((uintptr_t)out >> 32), __ATOMIC_SEQ_CST);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = i + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out)
            uintptr_t whole = (uintptr_t)__atomic_load_n(&half[1], __ATOMIC_SEQ_CST) << 32 | half[0];
            total += ((double *)whole)[5];
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
