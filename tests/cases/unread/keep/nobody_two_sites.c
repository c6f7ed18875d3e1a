/* Two receives into one buffer: after the shorter one the rest of the longer one's message is still there. */
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
    double *in = malloc(N * sizeof *in);
    static double out[N];
    for (int i = 0; i < N; i++)
        in[i] = 0.5 * i;
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < N; i++)
            out[i] = v[i] + rank + 0.5 * i * turn;
        MPI_Send(out, N, MPI_DOUBLE, to, 3, MPI_COMM_WORLD);
        MPI_Send(out, N / 3, MPI_DOUBLE, to, 4, MPI_COMM_WORLD);
        MPI_Recv(in, N, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(in, N / 3, MPI_DOUBLE, from, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in)
        for (int i = 0; i < N; i++)
            v[i] += in[i];
    }
    free(in);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
