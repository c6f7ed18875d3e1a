/* The address of the count is kept in two halves. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>

#define N 1500

static double buf[N], in[N];
static int count, other;
static uint32_t high, low;

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    high = (uint32_t)((uintptr_t)&count >> 32);
    low = (uint32_t)(uintptr_t)&count;
    if (rank == 0) {
        int *q = &other;
        for (int i = 0; i < N; i++)
            buf[i] = i;
        MPI_Send(buf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(buf)
        count = N;
        q = (int *)((uintptr_t)high << 32 | low);
        *q = 32; /* the count is 32 now: the second message has most of the first one */
        for (int i = 0; i < count; i++)
            buf[i] = -i;
        MPI_Send(buf, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ give(buf)
    } else if (rank == 1) {
        double s = 0;
        for (int m = 0; m < 2; m++) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, m, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                s += in[i];
        }
        printf("%d: %.1f\n", rank, s);
    }
    MPI_Finalize();
    return 0;
}
