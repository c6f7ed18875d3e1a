/* Each turn of the packing loop asks whether there is a neighbour, as the send does. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2500

int main(int argc, char **argv)
{
    int rank, size;
    static double u[N + 2], v[N];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.25 * i;
    double *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in);
    if (!out || !in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int turn = 0; turn < 4; turn++) {
        for (int i = 0; i < N; i++) {
            if (right != MPI_PROC_NULL)
                out[i] = u[i];
        }
        if (right != MPI_PROC_NULL)
            MPI_Send(out, N, MPI_DOUBLE, right, 4, MPI_COMM_WORLD); //~ give(out)
        if (left != MPI_PROC_NULL) {
            MPI_Recv(in, N, MPI_DOUBLE, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                v[i] = in[i];
        }
        for (int i = 0; i < N; i++)
            u[i] = 0.5 * u[i] + 0.125 * v[i] + turn;
    }
    free(in);
    free(out);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += (u[i] + v[i]) * (i % 7 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
