/* A second name of the buffer, set before the receive, is used after it. */
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
    double *in = malloc(N * sizeof *in), *last;
    static double out[N];
    for (int i = 0; i < N; i++)
        in[i] = 0.5 * i;
    last = rank ? in + N - 1 : in + 1;
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < N; i++)
            out[i] = v[i] + rank + 0.5 * i * turn;
        MPI_Send(out, N, MPI_DOUBLE, to, 3, MPI_COMM_WORLD);
        MPI_Recv(in, N, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI205
        for (int i = 0; i < N; i++)
            v[i] += in[i];
        v[0] += *last;
    }
    free(in);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
