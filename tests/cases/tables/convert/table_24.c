/* A function is given the table, and which of its rows it sends. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 4

static void fill(int d, int me, int n, double **out, int round)
{
    for (int i = 0; i < n; i++)
        out[d][i] = round + me + 0.5 * i + d;
}

static void drop(double **in, double **out)
{
    for (int d = 0; d < ROWS; d++) {
        free(in[d]);
        free(out[d]);
    }
}

static void put(double **t, int k, int n, int to)
{
    MPI_Send(t[k], n, MPI_DOUBLE, to, k, MPI_COMM_WORLD); //~ give(t[k])
}

int main(int argc, char **argv)
{
    int me, size, n = 300;
    double *in[ROWS], *out[ROWS], sum = 0.0;
    int peer[ROWS];
    MPI_Request *rq = malloc(ROWS * sizeof *rq);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int d = 0; d < ROWS; d++) {
        in[d] = malloc(n * sizeof(double));
        out[d] = malloc(n * sizeof(double));
        peer[d] = d != 1 && size == 2 ? 1 - me : -1;
    }
    for (int round = 0; round < 3; round++) {
        int posted = 0;
        for (int d = 0; d < ROWS; d++) {
            if (peer[d] == -1)
                continue;
            MPI_Irecv(in[d], n, MPI_DOUBLE, peer[d], d, MPI_COMM_WORLD, rq + posted); //~ take(in[d])
            posted = posted + 1;
        }
        for (int d = 0; d < ROWS; d++)
            if (peer[d] != -1) {
                fill(d, me, n, out, round);
                put(out, d, n, peer[d]);
            }
        if (posted > 0)
            MPI_Waitall(posted, rq, MPI_STATUSES_IGNORE);
        for (int d = 0; d < ROWS; d++)
            if (peer[d] != -1)
                for (int i = 0; i < n; i++)
                    sum += in[d][i] * (i + d + 1);
    }
    printf("%d: %.17g\n", me, sum);
    drop(in, out);
    free(rq);
    MPI_Finalize();
    return 0;
}
