/* The address of what a star names. */
#include <mpi.h>
#include <stdio.h>

#define N 1200

static double a[30][40], b[30][40];

int main(int argc, char **argv)
{
    int rank;
    double s = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < 30; i++)
            for (int j = 0; j < 40; j++)
                a[i][j] = i + 0.5 * j;
        MPI_Send(&*a, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(a)
    } else if (rank == 1) {
        MPI_Recv(&(*(b[0] + 0)), N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
        for (int i = 0; i < 30; i++)
            for (int j = 0; j < 40; j++)
                s += b[i][j] * (i + 1);
    }
    printf("%d: %.17g\n", rank, s);
    MPI_Finalize();
    return 0;
}
