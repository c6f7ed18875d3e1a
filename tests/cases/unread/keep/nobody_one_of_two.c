/* A function that receives is called for two buffers; only one of them may come from nobody. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 300

static void get(double *in, int from)
{
    MPI_Recv(in, N, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ replace
}

int main(int argc, char **argv)
{
    int rank, size;
    static double v[N];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int from = rank > 0 ? rank - 1 : MPI_PROC_NULL, to = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    double *near = malloc(N * sizeof *near), *far = malloc(N * sizeof *far);
    static double out[N];
    for (int i = 0; i < N; i++)
        near[i] = 0.5 * i;
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < N; i++)
            out[i] = v[i] + rank + 0.5 * i * turn;
        MPI_Send(out, N, MPI_DOUBLE, to, 3, MPI_COMM_WORLD);
        MPI_Send(out, N, MPI_DOUBLE, (rank + 1) % size, 3, MPI_COMM_WORLD);
        get(near, from);
        get(far, (rank + size - 1) % size);
        for (int i = 0; i < N; i++)
            v[i] += near[i] - far[i];
    }
    free(near);
    free(far);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
