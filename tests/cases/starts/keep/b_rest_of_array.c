/* Only the rest of the array after its first element is packed and sent. */
#include <mpi.h>
#include <stdio.h>

#define N 2048
#define AT(a, i) (*(double *)((char *)(a) + (i) * sizeof(double)))

static double u[N], v[N];
static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int i = 1; i < N; i++)
            AT(sbuf, i) = 2.0 * u[i];
        MPI_Send(&sbuf[1], N - 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep OPI104
    } else if (rank == 1) {
        MPI_Recv(&rbuf[1], N - 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI204
        for (int i = 1; i < N; i++)
            v[i] = AT(rbuf, i);
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
