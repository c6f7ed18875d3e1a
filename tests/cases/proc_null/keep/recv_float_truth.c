/* A floating number is not zero, what is made a whole number of it is: all of the buffer is read. */
#include <mpi.h>
#include <stdio.h>

#define N 300

static double in[N], out[N];

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double share = argc * 0.5;
    int whole = (int)share;
    for (int i = 0; i < N; i++) {
        out[i] = i;
        in[i] = 7;
    }
    if (rank == 0) {
        MPI_Send(out, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(out)
    } else if (rank == 1 && share) {
        MPI_Recv(in, 100, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in)
        for (int i = 0; i < (whole == 0 ? N : 100); i++)
            sum += in[i];
    }
    printf("%d %g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
