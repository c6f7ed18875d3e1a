/* A rank is asked for its number in each turn, and a nonblocking send follows. */
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

    for (int i = 0; i < N; i++)
        u[i] = rank + 0.25 * i;
    double *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in);
    if (!out || !in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int turn = 0; turn < 4; turn++) {
        for (int i = 0; i < N; i++)
            if (rank < size - 1)
                out[i] = u[i] - turn;
        MPI_Request sent = MPI_REQUEST_NULL;
        if (rank < size - 1)
            MPI_Isend(out, N, MPI_DOUBLE, rank + 1, 4, MPI_COMM_WORLD, &sent); //~ give(out)
        if (rank > 0) {
            MPI_Recv(in, N, MPI_DOUBLE, rank - 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                v[i] = in[i];
        }
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
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
