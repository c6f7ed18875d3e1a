/* A receive of half the buffer, then one of all of it, which may bring nothing; then all of it is written. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 300

int main(int argc, char **argv)
{
    int rank, size;
    static double v[N], out[N];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int from = rank > 0 ? rank - 1 : MPI_PROC_NULL, to = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    double *in = malloc(N * sizeof *in);
    for (int turn = 0; turn < 3; turn++) {
        int around = (rank + size - 1) % size;
        for (int i = 0; i < N; i++)
            out[i] = v[i] + rank + 0.5 * i * turn;
        MPI_Send(out, N / 2, MPI_DOUBLE, (rank + 1) % size, 2, MPI_COMM_WORLD);
        MPI_Send(out, N, MPI_DOUBLE, to, 3, MPI_COMM_WORLD);
        MPI_Recv(in, N / 2, MPI_DOUBLE, around, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI216
        v[turn] += in[3];
        MPI_Recv(in, N, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        v[turn + 9] += in[5];
        for (int i = 0; i < N; i++)
            in[i] = i;
        v[turn + 17] += in[7];
    }
    free(in);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
