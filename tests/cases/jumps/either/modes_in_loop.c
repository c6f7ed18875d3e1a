/* One mode receives, another one reads in a loop that begins with the test of the mode. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 40

static double *in, *out, total;

static void step(int mode, int peer, int turn)
{
    int tries = 1;
    if (mode == 1) {
        for (int i = 0; i < N; i++)
            out[i] = turn + 0.5 * i;
        MPI_Sendrecv(out, N, MPI_DOUBLE, peer, 3, in, N, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    do {
    again:
        if (mode != 2)
            break;
        for (int i = 0; i < N; i++)
            total += in[i] * (i + 1);
        if (total > 1e300)
            goto again;
    } while (--tries > 0);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    in = malloc(N * sizeof *in);
    out = malloc(N * sizeof *out);
    for (int turn = 0; turn < argc + 2; turn++) {
        step(1, 1 - rank, turn);
        step(2, 1 - rank, turn);
    }
    free(in);
    free(out);
    printf("%d %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
