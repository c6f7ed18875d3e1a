/* The functions that send and receive are told how many in a struct. */
#include <mpi.h>
#include <stdio.h>

static double out[256], in[256], field[64];
static int lo, hi;

struct envelope {
    int count, peer, tag;
};

static void deliver(const double *b, const struct envelope *e)
{
    MPI_Send(b, e->count, MPI_DOUBLE, e->peer, e->tag, MPI_COMM_WORLD); //~ give(b)
}

static int fetch(void *b, const struct envelope *e)
{
    return MPI_Recv(b, e->count, MPI_DOUBLE, e->peer, e->tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
}

static void put(int peer)
{
    for (int j = lo; j <= hi; j++) {
        out[3 * j] = field[j];
        out[3 * j + 1] = field[j + 1];
        out[3 * j + 2] = field[j + 2];
    }
    {
        struct envelope e = { 3 * (hi - lo + 1), peer, 4 };
        deliver(&out[3 * lo], &e);
    }
}

static void get(int peer)
{
    struct envelope e = { .tag = 4, .peer = peer, .count = 3 * (hi - lo + 1) };
    if (fetch(in + 3 * lo, &e))
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int j = lo; j <= hi; j++)
        field[j] += in[3 * j] + 2 * in[3 * j + 1] + 3 * in[3 * j + 2];
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    lo = argc + 1;
    hi = argc + 9;
    for (int i = 0; i < 64; i++)
        field[i] = i + 100 * rank;
    for (int step = 0; step < 3; step++) {
        if (rank == 0 && size > 1)
            put(1);
        if (rank == 1)
            get(0);
        field[lo + 2] += 0.5;
    }
    double sum = 0;
    for (int i = 0; i < 64; i++)
        sum += field[i] * (i + 1);
    printf("%d %.2f\n", rank, sum);
    MPI_Finalize();
    return 0;
}
