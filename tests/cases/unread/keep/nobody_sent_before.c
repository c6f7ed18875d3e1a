/* What is sent is read after the receive where nothing comes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

int main(int argc, char **argv)
{
    int rank, size;
    static double v[N];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int from = rank > 0 ? rank - 1 : MPI_PROC_NULL, to = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    double *buf = malloc(N * sizeof *buf);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < N; i++)
            buf[i] = v[i] + rank + 0.5 * i;
        MPI_Send(buf, N, MPI_DOUBLE, to, 3, MPI_COMM_WORLD); //~ keep(buf) OPI101
        MPI_Recv(buf, N, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] += buf[i];
    }
    free(buf);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
