/* Text for another configuration names the parameter that a function sends. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 100

static double sbuf[N], rbuf[N];

static void put(double *b, int to)
{
#ifdef OTHER
    printf("%g\n", b[0]);
#endif
    MPI_Send(b, N, MPI_DOUBLE, to, 7, MPI_COMM_WORLD); //~ give(b)
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                sbuf[i] = t + i;
            put(sbuf, 1);
        } else if (rank == 1) {
            MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int i = 0; i < N; i++)
                total += rbuf[i] * i;
        }
    }
    printf("%d %g\n", rank, total);
    MPI_Finalize();
    return 0;
}
