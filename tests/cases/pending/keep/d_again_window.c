/* A window of receives, all into one buffer: each message that comes would bring memory, and the pointer has one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define WINDOW 8

int main(int argc, char **argv)
{
    int rank, n = 200, turns = 0;
    MPI_Request rq[WINDOW];
    double *out, *in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    out = malloc(n * sizeof *out);
    in = malloc(n * sizeof *in);
    for (int i = 0; i < n; i++)
        out[i] = in[i] = i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int w = 0; w < WINDOW; w++)
                MPI_Isend(out, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &rq[w]); //~ keep OPI102
            MPI_Waitall(WINDOW, rq, MPI_STATUSES_IGNORE);
        } else if (rank == 1) {
            for (int w = 0; w < WINDOW; w++)
                MPI_Irecv(in, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &rq[w]); //~ keep OPI206
            MPI_Waitall(WINDOW, rq, MPI_STATUSES_IGNORE);
            turns++;
        }
    }
    printf("%d: %d turns\n", rank, turns);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
