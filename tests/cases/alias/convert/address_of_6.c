/* One call sends an array and receives another. */
#include <mpi.h>
#include <stdio.h>

#define N 1200

static double a[N], b[N];

int main(int argc, char **argv)
{
    int rank;
    double s = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        a[i] = rank + 0.5 * i;
    MPI_Sendrecv(&a, N, MPI_DOUBLE, 1 - rank, 7, &b, N, MPI_DOUBLE, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(a) take(b)
    for (int i = 0; i < N; i++)
        s += b[i] * (i + 1);
    printf("%d: %.17g\n", rank, s);
    MPI_Finalize();
    return 0;
}
