/* The buffer is read by a function called in the same list of arguments: before or after the send, as compilers like. */
#include <mpi.h>
#include <stdio.h>

#define N 500

static double sbuf[N];

static double middle(void)
{
    return sbuf[N / 2];
}

static void show(double x, int error)
{
    printf("%g %d\n", x, error);
}

int main(int argc, char **argv)
{
    int rank;
    static double rbuf[N];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = 0.5 * i;
        show(middle(), MPI_Send(sbuf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD)); //~ keep OPI105
        printf("sent\n");
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%g\n", rbuf[N - 1]);
    }
    MPI_Finalize();
    return 0;
}
//~ silent: in the order that this compiler takes nothing is read after the send
