/* Structs: their members first, then the count. */
#include <mpi.h>
#include <stdio.h>

#define ROOM 64

enum { MORE = 1, LAST };

struct item {
    double value;
    long number;
};

static struct item out[ROOM];
static int filled = 0;
static struct item in[ROOM];

static void flush(int tag)
{
    MPI_Send(out, filled * (int)sizeof(struct item), MPI_BYTE, 1, tag, MPI_COMM_WORLD); //~ give(out)
    filled = 0;
}

static void put(int i)
{
    if (filled == ROOM)
        flush(MORE);
    out[filled].value = 0.25 * i;
    out[filled].number = i;
    filled++;
}

static double receive_all(void)
{
    double total = 0.0;
    for (int more = 1; more;) {
        MPI_Status status;
        int count;
        MPI_Recv(in, (int)sizeof in, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status); //~ take(in)
        MPI_Get_count(&status, MPI_BYTE, &count);
        for (int i = 0; i < count / (int)sizeof(struct item); i++)
            total += (i + 1) * in[i].value * in[i].number;
        more = status.MPI_TAG == MORE;
    }
    return total;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < 1000; i++)
            if (i % 7 != 3)
                put(i);
        flush(LAST);
    } else if (rank == 1) {
        printf("%.17g\n", receive_all());
    }
    MPI_Finalize();
    return 0;
}
