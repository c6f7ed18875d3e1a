/* Sendrecv_replace with a buffer that is read later; only part of it was
 * packed. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int i = 0; i < N; i += 2)
        sbuf[i] = u[i];
    MPI_Sendrecv_replace(sbuf, N, MPI_DOUBLE, 1 - rank, 7, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
    for (int i = 0; i < N; i++)
        v[i] = sbuf[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    if (rank == 0) {
    } else if (rank == 1) {
    }
    MPI_Finalize();
    return 0;
}
