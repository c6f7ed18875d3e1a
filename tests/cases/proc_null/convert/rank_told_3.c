/* The same, with a value that is put aside for one rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

int main(int argc, char **argv)
{
    int rank, size;
    static double u[N], v[N];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in);
    for (int i = 0; i < N; i++) {
        u[i] = rank + 0.5 * i;
        in[i] = 0.25 * i;
    }
    int from = rank - 1, to = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    if (rank == 0)
        from = MPI_PROC_NULL;
    for (int turn = 0; turn < 4; turn++) {
        for (int i = 0; i < N; i++)
            out[i] = u[i] + turn;
        MPI_Sendrecv(out, N, MPI_DOUBLE, to, 3, in, N, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(out), take(in)
        if (rank)
            for (int i = 0; i < N; i++)
                v[i] += in[i];
    }
    free(in);
    free(out);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += (u[i] + v[i]) * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
