/* A function that nobody calls gives the address of a pointer, which is not that of what it points to. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1200

static double *a;
static long seen;

static void put(void *buf, int n, int to)
{
    MPI_Send(buf, n, MPI_BYTE, to, 7, MPI_COMM_WORLD); //~ keep OPI104
}

void show(int to)
{
    put(&a, sizeof a, to);
    seen++;
}

int main(int argc, char **argv)
{
    int rank;
    double b[N], s = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        a = malloc(N * sizeof(double));
        for (int i = 0; i < N; i++)
            a[i] = 0.5 * i;
        put(a, N * (int)sizeof(double), 1);
        free(a);
    } else if (rank == 1) {
        MPI_Recv(b, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
        for (int i = 0; i < N; i++)
            s += b[i] * (i + 1);
    }
    printf("%d: %.17g %ld\n", rank, s, seen);
    MPI_Finalize();
    return 0;
}
