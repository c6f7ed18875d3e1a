/* A local string is cleared by its initialiser, and its bytes are added to. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static char rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        char sbuf[N] = "";
        for (int i = 0; i < N; i++)
            sbuf[i] += i % 7;
        MPI_Send(sbuf, N, MPI_CHAR, 1, 7, MPI_COMM_WORLD); //~ keep OPI110
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
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
//~ silent: the compiler clears the array with a call that is not traced, and a local array is as large as its message
