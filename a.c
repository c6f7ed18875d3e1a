#include <mpi.h>
#include <stdio.h>
#  include <string.h> /* memcpy */
#ifdef LATE
#include <stdlib.h>
#endif
#define N 1000
static double u[N];
static int n = 40;
int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int up = rank == 0 ? 1 : MPI_PROC_NULL, down = rank == 1 ? 0 : MPI_PROC_NULL;
    for (int i = 0; i < N; i++)
        u[i] = (rank + 1) * i;
    for (int t = 0; t < 4; t++) {
        if (n > 2)
            MPI_Send(&u[t], n, /* SEND */
                     MPI_DOUBLE, up, 0, MPI_COMM_WORLD);
        else
            n = 2;
        MPI_Recv(&u[t + 100], n + 60, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // RECV
        MPI_Sendrecv(u, n, MPI_DOUBLE, up, 1, u + 300, n, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, /* BOTH */
                     MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < N; i++)
        sum += u[i] * (i % 7);
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
