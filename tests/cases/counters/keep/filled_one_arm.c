/* The element is written in one of two arms, and counted after both. */
#include <mpi.h>
#include <stdio.h>

#define ROOM 64

enum { MORE = 1, LAST };

static double out[ROOM];
static int n, left_out;
static double in[ROOM];

static void flush(int tag)
{
    MPI_Send(out, n, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD); //~ keep(out)
    n = 0;
}

static void put(double x)
{
    if (x > 20.0)
        out[n] = x;
    else
        left_out++;
    n++;
    if (n == ROOM)
        flush(MORE);
}

static double receive_all(void)
{
    double total = 0.0;
    for (int more = 1; more;) {
        MPI_Status status;
        int count;
        MPI_Recv(in, ROOM, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
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
    if (rank == 0) {
        for (int i = 0; i < 1000; i++)
            if (i % 7 != 3)
                put(0.5 * i);
        flush(LAST);
    } else if (rank == 1) {
        printf("%.17g\n", receive_all());
    }
    MPI_Finalize();
    return 0;
}
