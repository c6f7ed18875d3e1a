/* The address of a whole array is kept and read after the send. */
#include <mpi.h>
#include <stdio.h>

#define N 1200

static double a[N], b[N];
static void *kept;

static void keep(void *p)
{
    kept = p;
}

int main(int argc, char **argv)
{
    int rank;
    double s = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            a[i] = 0.5 * i;
        keep(&a);
        MPI_Send(&a, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
        s = ((double *)kept)[5];
    } else if (rank == 1) {
        MPI_Recv(&b, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            s += b[i] * (i + 1);
    }
    printf("%d: %.17g\n", rank, s);
    MPI_Finalize();
    return 0;
}
