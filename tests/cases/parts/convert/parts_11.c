/* The message starts inside the block; the header before it, of another size, is in no message and
 * becomes a buffer of its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *block = malloc((N + 16) * sizeof(double));
    block[0] = 42.0;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            block[16 + i] = u[i];
        MPI_Send(block + 16, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(block + 16)
        printf("%.17g\n", block[0]);
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    free(block);
    MPI_Finalize();
    return 0;
}
//~ points 4
