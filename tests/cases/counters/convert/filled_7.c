/* How much is sent is told by a parameter, and that by a local: both are what the counter says. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 64

enum { MORE = 1, LAST };

struct record {
    long key, value;
};

static struct record *out;
static int n;
static long in[2 * ROOM];

static void give(void *buf, int count, int tag)
{
    MPI_Send(buf, count, MPI_LONG, 1, tag, MPI_COMM_WORLD); //~ give(out)
}

static void flush(int tag)
{
    int many = 2 * n;
    give(out, many, tag);
    n = 0;
}

static void put(int i)
{
    struct record r = { i, 2 * i };
    memcpy(&out[n], &r, sizeof r);
    n += 1;
    if (n >= ROOM)
        flush(MORE);
}

static double receive_all(void)
{
    double total = 0.0;
    for (int more = 1; more;) {
        MPI_Status status;
        int count;
        MPI_Recv(in, 2 * ROOM, MPI_LONG, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status); //~ take(in)
        MPI_Get_count(&status, MPI_LONG, &count);
        for (int i = 0; i < count; i++)
            total += (i + 1) * in[i];
        more = status.MPI_TAG == MORE;
    }
    return total;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    out = malloc(ROOM * sizeof *out);
    if (!out)
        return 1;
    if (rank == 0) {
        for (int i = 0; i < 1000; i++)
            if (i % 7 != 3)
                put(i);
        flush(LAST);
    } else if (rank == 1) {
        printf("%.17g\n", receive_all());
    }
    free(out);
    MPI_Finalize();
    return 0;
}
