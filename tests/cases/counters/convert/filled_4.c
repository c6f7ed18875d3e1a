/* Three numbers for each count. */
#include <mpi.h>
#include <stdio.h>

#define ROOM 64

enum { MORE = 1, LAST };

static double out[3 * ROOM];
static int n;
static double in[3 * ROOM];

static void flush(int tag)
{
    MPI_Send(out, 3 * n, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD); //~ give(out)
    n = 0;
}

static void put(double x)
{
    double *const at = out + 3 * n;
    at[0] = x;
    at[1] = x * x;
    at[2] = 1.0;
    if (++n == ROOM)
        flush(MORE);
}

static double receive_all(void)
{
    double total = 0.0;
    for (int more = 1; more;) {
        MPI_Status status;
        int count;
        MPI_Recv(in, 3 * ROOM, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status); //~ take(in)
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
