/* A short message from the neighbour, and in the next turn a longer one from nobody: after the short one the buffer has
 * still the rest of what was put there. */
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
    for (int i = 0; i < N; i++)
        in[i] = 0.5 * i;
    for (int turn = 0; turn < 3; turn++) {
        int some = turn ? N : N / 2;
        int source = turn ? MPI_PROC_NULL : from;
        if (!turn) {
            double part[N / 2];
            for (int i = 0; i < N / 2; i++)
                part[i] = rank + i;
            MPI_Send(part, N / 2, MPI_DOUBLE, to, 3, MPI_COMM_WORLD);
        }
        MPI_Recv(in, some, MPI_DOUBLE, source, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in)
        for (int i = 0; i < some; i++)
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
