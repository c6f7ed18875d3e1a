/* Code that another compiler sees reads the buffer after the send, by a name that goes on in the next line. */
#include <mpi.h>
#include <stdio.h>

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
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = 2.0 * u[i];
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI112
        #ifdef __INTEL_COMPILER
        printf("%g\n", sb\
uf[0]);
        #endif
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
