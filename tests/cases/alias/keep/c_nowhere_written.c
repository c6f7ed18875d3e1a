/* A store through a pointer of which nothing is known: it was read from digits. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>

#define N 1500

static double buf[N], in[N];
static int count;

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        int *q;
        for (int i = 0; i < N; i++)
            buf[i] = i;
        MPI_Send(buf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(buf)
        count = N;
        char t[17] = {0};
        uintptr_t x = (uintptr_t)&count;
        for (int i = 0; i < 16; i++)
            t[i] = "0123456789abcdef"[x >> (60 - 4 * i) & 15];
        q = (int *)strtoul(t, NULL, 16);
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
