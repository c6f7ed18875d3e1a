/* Two numbers are left out, and whether they are the same decides whether the buffer is read after the send. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 200

static double *out, *in, kept;

/* Without parameters, so that calls are not compared with it. */
void exchange();

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    out = malloc(N * sizeof(double));
    in = malloc(N * sizeof(double));
    for (int turn = 0; turn < 3; turn++)
        exchange(rank);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}

void exchange(int rank, int first, int last)
{
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            out[i] = 0.5 * i;
        MPI_Send(out, N, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD); //~ keep OPI101
        if (first != last)
            kept += out[3];
    } else if (rank == 1) {
        double sum = 0;

        MPI_Recv(in, N, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            sum += in[i] * i;
        printf("%g\n", sum);
    }
}
//~ silent: what is left out is 0 on many machines
