/* What came is told by the status: nothing from nobody; the values are read all the same. */
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
    struct { double *in, *out; } side;
    side.in = malloc(N * sizeof(double));
    side.out = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++)
        side.in[i] = -1.0;
    for (int turn = 0; turn < 3; turn++) {
        MPI_Status status;
        int count;
        for (int i = 0; i < N; i++)
            side.out[i] = v[i] + rank + 0.5 * i;
        MPI_Send(side.out, N, MPI_DOUBLE, to, 3, MPI_COMM_WORLD); //~ give(side.out)
        MPI_Recv(side.in, N, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, &status); //~ take(side.in)
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        for (int i = 0; i < N; i++)
            v[i] += side.in[i] + count + status.MPI_SOURCE * 0.0;
    }
    free(side.in);
    free(side.out);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
