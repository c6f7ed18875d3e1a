/* An endless loop that one call leaves after a turn and another one does not: what is put after the `if` is done in each turn. */
#include <mpi.h>
#include <stdio.h>

#define N 40

static double total;

static void serve(int once, int peer, int turn)
{
    double in[N], out[N];
    int k = 0;
    for (int i = 0; i < N; i++)
        out[i] = turn + 0.5 * i;
    MPI_Sendrecv(out, N, MPI_DOUBLE, peer, 3, in, N, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (;;) {
        if (k++ > 4) {
            total += in[2];
            return;
        } else
            total += in[3];
        if (once)
            return;
    }
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < argc + 2; turn++) {
        serve(1, 1 - rank, turn);
        serve(0, 1 - rank, turn);
    }
    printf("%d %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
