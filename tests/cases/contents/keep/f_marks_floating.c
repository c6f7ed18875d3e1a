// A shorter message leaves the mark that stood there, and it tells how far to read: it is compared as a floating number.
#include <mpi.h>
#include <stdio.h>
#define N 4096

static double in[N], out[N];

int main(int argc, char **argv)
{
    int rank, i, sent = argc > 9 ? 800 : 700;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (i = 0; i < sent; i++)
            out[i] = i + 0.5;
        MPI_Send(out, sent, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(out)
    } else if (rank == 1) {
        for (i = 0; i < N; i++)
            in[i] = -1.0;
        MPI_Recv(in, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI210
        for (i = 0; i < N && in[i] != -1.0; i++)
            sum += in[i];
        printf("%d %g\n", i, sum);
    }
    MPI_Finalize();
    return 0;
}
