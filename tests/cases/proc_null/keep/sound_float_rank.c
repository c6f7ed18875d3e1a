/* Ranks that were floating numbers on the way: MPI_PROC_NULL may be among them, and the receive then brings nothing. */
#include <mpi.h>
#include <stdio.h>

#define N 64

static double a[N], b[N], from[N];
static float table[2] = {MPI_PROC_NULL, 0};

static double sum(const double *x)
{
    double s = 0.0;
    for (int i = 0; i < N; i++)
        s += x[i] * (i + 1);
    return s;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++) {
        a[i] = b[i] = 10.0 + i;
        from[i] = i;
    }
    if (rank == 0)
        for (int tag = 0; tag < 2; tag++)
            MPI_Send(from, N, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD);
    if (rank < 2) {
        double other = rank == 0 ? MPI_PROC_NULL : 0;
        int source = other;
        MPI_Recv(a, N, MPI_DOUBLE, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ replace
        MPI_Recv(b, N, MPI_DOUBLE, (int)table[rank], 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ replace
        printf("%d: %.17g %.17g\n", rank, sum(a), sum(b));
    }
    MPI_Finalize();
    return 0;
}
