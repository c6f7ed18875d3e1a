/* Local arrays, in parentheses and after a cast. */
#include <mpi.h>
#include <stdio.h>

#define N 1200

int main(int argc, char **argv)
{
    int rank;
    double s = 0.0;
    double a[N], b[N];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            a[i] = 0.5 * i;
        MPI_Send(&(a), N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(a)
    } else if (rank == 1) {
        MPI_Recv((void *)&b, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
        for (int i = 0; i < N; i++)
            s += b[i] * (i + 1);
    }
    printf("%d: %.17g\n", rank, s);
    MPI_Finalize();
    return 0;
}
