/* What is read twice through what the library returned may be two numbers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N 600

static time_t first, second = 90000;

int main(int argc, char **argv)
{
    int rank;
    double s = 0, *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!out || !in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            out[i] = i + 1;
        MPI_Send(out, N, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD); //~ keep(out) OPI101
        struct tm *day = gmtime(&first);
        int was = day->tm_mday;
        gmtime(&second);
        if (was != day->tm_mday)
            s = out[5];
    } else if (rank == 1) {
        MPI_Recv(in, N, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            s += in[i];
    }
    if (rank < 2)
        printf("%d %g\n", rank, s);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
