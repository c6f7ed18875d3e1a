/* Deeper levels of a function that calls itself have a function read the buffer after it was sent. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

static int *buf;
static int read_at(int i)
{
    return buf[i];
}

static int deep(int level)
{
    int s = 0;

    if (level > 0)
        for (int i = 0; i < N; i++)
            s += read_at(i) * (i % 3);
    return level < 2 ? s + deep(level + 1) : s;
}

int main(int argc, char **argv)
{
    int rank, first, in[N], total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    buf = malloc(N * sizeof *buf);
    for (int i = 0; i < N; i++)
        buf[i] = i + rank;
    first = read_at(5);
    if (rank == 0)
        MPI_Send(buf, N, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ keep(buf)
    else if (rank == 1) {
        MPI_Recv(in, N, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
        for (int i = 0; i < N; i++)
            total += in[i];
    }
    printf("%d: %d %d\n", rank, first, total + deep(0));
    free(buf);
    MPI_Finalize();
    return 0;
}
