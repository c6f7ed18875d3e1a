/* The buffer reaches the send as a by-value parameter, and which buffer it is
 * depends on the run; the caller packs it again through its own name. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sa[N], sb[N], rbuf[N];

static void ship(double *buf)
{
    MPI_Send(buf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 4; step++) {
        double *to = (step + argc) % 3 == 0 ? sa : sb;
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                to[i] = u[i] + step;
            ship(to);
        } else if (rank == 1) {
            MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                v[i] += rbuf[i];
        }
    }
    if (rank == 1) {
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
