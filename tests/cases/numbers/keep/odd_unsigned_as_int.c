/* An unsigned number, too large for an int, is negative as one. */
#include <mpi.h>
#include <stdio.h>

#define N 600

static double u[N], v[N];
static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    unsigned a = 4294967290u + (unsigned)argc;
    MPI_Bcast(&a, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    int as_int = a;
    double seen = 0;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int turn = 0; turn < 2; turn++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                sbuf[i] = u[i] + turn;
            MPI_Send(sbuf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep
            if (as_int < 0)
                seen += sbuf[5];
        } else if (rank == 1) {
            MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                v[i] += rbuf[i];
        }
    }
    for (int i = 0; i < N; i++)
        seen += v[i] * (i % 7);
    printf("%d %.17g\n", rank, seen);
    MPI_Finalize();
    return 0;
}
