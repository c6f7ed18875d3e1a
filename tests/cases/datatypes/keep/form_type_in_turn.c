/* The datatype is another one in each turn. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    MPI_Datatype type = MPI_DOUBLE;
    for (int step = 0; step < 4; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                sbuf[i] = u[i] + step;
            MPI_Send(sbuf, N, type, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI107
            type = type == MPI_FLOAT ? MPI_DOUBLE : MPI_FLOAT;
        } else if (rank == 1) {
            MPI_Recv(rbuf, N, type, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(rbuf) OPI207
            type = type == MPI_FLOAT ? MPI_DOUBLE : MPI_FLOAT;
            for (int i = 0; i < N; i++)
                v[i] += rbuf[i];
        }
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
