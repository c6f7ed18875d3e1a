/* The address of a whole array goes through two functions; the array's size is asked for, and it has another use. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static double from[900];

static void put(const void *buf, int bytes, int to)
{
    MPI_Send(buf, bytes, MPI_BYTE, to, 7, MPI_COMM_WORLD); //~ give(buf)
}

static void pass(const void *what, int bytes, int to)
{
    put(what, bytes, to);
}

int main(int argc, char **argv)
{
    int rank;
    double b[900], first[900], s = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 900; i++)
        first[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            memcpy(&from, first, sizeof from);
            pass(&from, sizeof from, 1);
        } else if (rank == 1) {
            MPI_Recv(&b, sizeof b, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
            for (int i = 0; i < 900; i++)
                s += b[i] * (i + 1 + t);
        }
    }
    printf("%d: %.17g\n", rank, s);
    MPI_Finalize();
    return 0;
}
