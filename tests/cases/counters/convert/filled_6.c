/* Two elements at a time; what is left is sent at the end, with a nonblocking send. */
#include <mpi.h>
#include <stdio.h>

#define ROOM 64

enum { MORE = 1, LAST };

static double out[ROOM + 2];
static int n;
static MPI_Request sending = MPI_REQUEST_NULL;
static double in[ROOM + 2];

static void flush(int tag)
{
    if (n == 0)
        MPI_Wait(&sending, MPI_STATUS_IGNORE);
    MPI_Isend(out, n, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD, &sending); //~ give(out)
    n = 0;
}

static void put(double x)
{
    if (n == 0)
        MPI_Wait(&sending, MPI_STATUS_IGNORE);
    out[n] = x;
    out[n + 1] = -0.5 * x;
    n += 2; //~ hole: n += 2 => n += 3
    if (n >= ROOM)
        flush(MORE);
}

static double receive_all(void)
{
    double total = 0.0;
    for (int more = 1; more;) {
        MPI_Status status;
        int count;
        MPI_Recv(in, ROOM + 2, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status); //~ take(in)
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
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
