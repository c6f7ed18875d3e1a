/* What a row is filled with is copied, more than one row at once. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define ROOM 256

static double out[4][ROOM], in[4 * ROOM];
static int n[4];

static void flush_row(int r)
{
    MPI_Send(out[r], n[r], MPI_DOUBLE, 1, r, MPI_COMM_WORLD); //~ keep(out) OPI104
    n[r] = 0;
}

static void put(int r, int count)
{
    memcpy(&out[r][n[r]], in, count * sizeof(double));
    n[r] += count;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < 4 * ROOM; i++)
            in[i] = 0.5 * i;
        put(0, 4 * ROOM);
        for (int r = 0; r < 4; r++)
            flush_row(r);
    } else if (rank == 1) {
        double total = 0.0;
        for (int r = 0; r < 4; r++) {
            MPI_Status status;
            int count;
            MPI_Recv(in, 4 * ROOM, MPI_DOUBLE, 0, r, MPI_COMM_WORLD, &status); //~ take(in)
            MPI_Get_count(&status, MPI_DOUBLE, &count);
            for (int i = 0; i < count; i++)
                total += (i + 1) * in[i];
        }
        printf("%.17g\n", total);
    }
    MPI_Finalize();
    return 0;
}
