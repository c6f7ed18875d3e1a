/* After the received half a second half is packed; then all of it is sent on. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double buf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        MPI_Send(u, N / 2, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        MPI_Recv(v, N, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    } else if (rank == 1) {
        MPI_Recv(buf, N / 2, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI216
        for (int i = N / 2; i < N; i++)
            buf[i] = u[i];
        MPI_Send(buf, N, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
//~ points 2
