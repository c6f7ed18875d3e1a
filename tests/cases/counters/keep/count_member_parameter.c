/* A parameter is set anew in the function, after a store. */
#include <mpi.h>
#include <stdio.h>

struct state {
    int turn, n;
    double sum;
};
static double in[64], out[64];

static void step(struct state *s, int t)
{
    for (int k = 0; k < 2; k++) {
        s->turn = 60;
        s = (struct state *)&s->n;
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct state z, *s = &z;
    s->n = 64;
    double sum = 0;
    for (int i = 0; i < 64; i++)
        in[i] = rank + i;
    for (int t = 0; t < 4; t++) {
        for (int i = 0; i < 64; i++)
            out[i] = rank + t + i;
        MPI_Request rq;
        MPI_Irecv(in, s->n, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &rq); //~ keep(in) OPI201
        MPI_Send(out, s->n, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD); //~ give(out)
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        step(s, t);
        for (int i = 0; i < 64; i++)
            sum += in[i] * (i + t);
    }
    printf("%d %g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
