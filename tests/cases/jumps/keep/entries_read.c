/* A function whose loop is entered in two places reads the buffer after the send: its ways are not followed. */
#include <mpi.h>
#include <stdio.h>

#define N 1000

static double out[N], in[N];

static double some(int k)
{
    double sum = 0;
    if (k > 3)
        goto inside;
    while (k < N) {
        k += 2;
    inside:
        sum += out[k++ % N];
    }
    return sum;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            out[i] = i + argc;
        MPI_Send(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(out) OPI101
        printf("%g\n", some(argc + 4));
    } else if (rank == 1) {
        MPI_Recv(in, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
        double sum = 0;
        for (int i = 0; i < N; i++)
            sum += in[i] * i;
        printf("%g\n", sum);
    }
    MPI_Finalize();
    return 0;
}
