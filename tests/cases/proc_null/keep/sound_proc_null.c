/* MPI_PROC_NULL in static initialisers: the receive brings nothing on rank 0, which then reads the old bytes. */
#include <mpi.h>
#include <stdio.h>

#define N 64

static int table[2] = {MPI_PROC_NULL, 0};
static const int constant[2] = {MPI_PROC_NULL, 0};
static struct { int left, right; } pair = {MPI_PROC_NULL, 0};
static double a[N], b[N], c[N], from[N];

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
        a[i] = b[i] = c[i] = 10.0 + i;
        from[i] = i;
    }
    if (rank == 0)
        for (int tag = 0; tag < 3; tag++)
            MPI_Send(from, N, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD);
    if (rank < 2) {
        MPI_Recv(a, N, MPI_DOUBLE, table[rank], 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ replace
        MPI_Recv(b, N, MPI_DOUBLE, constant[rank], 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ replace
        MPI_Recv(c, N, MPI_DOUBLE, rank == 0 ? pair.left : pair.right, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ replace
        printf("%d: %.17g %.17g %.17g\n", rank, sum(a), sum(b), sum(c));
    }
    MPI_Finalize();
    return 0;
}
