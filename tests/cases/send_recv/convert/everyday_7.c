/* A function that one which calls itself calls, too: the buffer comes to it from elsewhere. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int sum(const int *a, int n)
{
    int s = 0;

    for (int i = 0; i < n; i++)
        s += a[i] * (i % 3);
    return s;
}

static int halves(const int *a, int from, int to)
{
    if (to - from < 10)
        return sum(a + from, to - from);
    return halves(a, from, (from + to) / 2) + halves(a, (from + to) / 2, to);
}

int main(int argc, char **argv)
{
    int rank, n;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n = argc * 100;
    int *own = malloc(n * sizeof *own), *out = malloc(n * sizeof *out);
    for (int i = 0; i < n; i++)
        own[i] = out[i] = i;
    if (rank == 0) {
        MPI_Send(out, n, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ give(out)
    } else if (rank == 1) {
        int *other = malloc(n * sizeof *other);
        MPI_Recv(other, n, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(other)
        printf("%d %d\n", halves(own, 0, n), sum(other, n));
        free(other);
    }
    free(own);
    free(out);
    MPI_Finalize();
    return 0;
}
