/* An address is printed as a number, and the number is read. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1500

static double buf[N], in[N];
static int count, other;

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        int *q = &other;
        for (int i = 0; i < N; i++)
            buf[i] = i;
        MPI_Send(buf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(buf)
        count = N;
        char t[40];
        sprintf(t, "%lu", (unsigned long)&count);
        q = (int *)strtoul(t, NULL, 10);
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
