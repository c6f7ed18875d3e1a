/* Functions that send and receive are given the addresses of whole arrays, one of them with a cast. */
#include <mpi.h>
#include <stdio.h>

#define N 1200

static double a[N], b[N];

static void put(void *buf, int to)
{
    MPI_Send(buf, N, MPI_DOUBLE, to, 7, MPI_COMM_WORLD); //~ give(buf)
}

static void get(void *buf, int from)
{
    MPI_Recv(buf, N, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(buf)
}

int main(int argc, char **argv)
{
    int rank;
    double s = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
            a[i] = 0.5 * i;
        put(&a, 1);
    } else if (rank == 1) {
        get((void *)&b, 0);
        for (int i = 0; i < N; i++)
            s += b[i] * (i + 1);
    }
    printf("%d: %.17g\n", rank, s);
    MPI_Finalize();
    return 0;
}
