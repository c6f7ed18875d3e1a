/* Functions get the address of the one struct that the arrays are in. */
#include <mpi.h>
#include <stdio.h>

#define N 600

struct edge {
    int n, peer;
    double out[N], in[N];
};

static struct edge side;
static double u[N];

static void pack(struct edge *e, int t)
{
    for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
        e->out[i] = u[i] * (t + 1);
}

static void unpack(const struct edge *e)
{
    for (int i = 0; i < N; i++)
        u[i] += e->in[i];
}

static void exchange(struct edge *e, MPI_Comm comm)
{
    MPI_Request rq;
    MPI_Irecv(e->in, e->n, MPI_DOUBLE, e->peer, 3, comm, &rq); //~ take(e->in)
    MPI_Send(e->out, e->n, MPI_DOUBLE, e->peer, 3, comm); //~ give(e->out)
    MPI_Wait(&rq, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    side.n = N;
    side.peer = size - 1 - rank;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        pack(&side, t);
        exchange(&side, MPI_COMM_WORLD);
        unpack(&side);
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
