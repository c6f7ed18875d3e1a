/* A function is given the address, cast to one of elements. */
#include <mpi.h>
#include <stdio.h>

#define N 1200

static double a[N], b[N];

static void fill(double *to)
{
    for (int i = 0; i < N; i++)
        to[i] = 0.5 * i;
}

static double total(const double *of)
{
    double s = 0.0;
    for (int i = 0; i < N; i++)
        s += of[i] * (i + 1);
    return s;
}

int main(int argc, char **argv)
{
    int rank;
    double s = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        fill((double *)&a);
        MPI_Send(&a, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(a)
    } else if (rank == 1) {
        MPI_Recv(&b, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
        s = total((const double *)&b);
    }
    printf("%d: %.17g\n", rank, s);
    MPI_Finalize();
    return 0;
}
