/* A function that calls itself reads globals and gives nothing away. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static int n = N, depths;

static int deepest(int depth)
{
    depths++;
    return depth < 5 ? deepest(depth + 1) + n % 2 : depth;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *sbuf = malloc(N * sizeof(double)), *rbuf = malloc(N * sizeof(double));

    int deep = deepest(0);
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            sbuf[i] = 2.0 * i + 1;
        MPI_Send(sbuf, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
    } else if (rank == 1) {
        double total = 0.0;
        MPI_Recv(rbuf, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        for (int i = 0; i < n; i++)
            total += rbuf[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    if (deep != 5)
        printf("%d %d\n", deep, depths);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
