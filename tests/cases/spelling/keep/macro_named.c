/* Before the function that packs, where the memory would be asked for, the name is that of a macro. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

static double u[N], v[N];
static double *sbuf, rbuf[N], other[N], *p = other;

static void pack(int step)
{
    for (int i = 0; i < N; i++)
        sbuf[i] = u[i] + step;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    sbuf = malloc(N * sizeof *sbuf);
    for (int step = 0; step < 4; step++) {
        if (rank == 0) {
#define sbuf p
            pack(step);
#undef sbuf
            MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf)
        } else if (rank == 1) {
            MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int i = 0; i < N; i++)
                v[i] += rbuf[i];
        }
    }
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
