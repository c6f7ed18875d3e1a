/* MPI_DOUBLE_INT has a gap at its end, in which the program keeps a number of its
 * own: the message does not bring it. */
#include <mpi.h>
#include <stdio.h>

#define N 1024

struct pair {
    double value;
    int index;
    int mine;
};

static struct pair sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < N; i++) {
            sbuf[i].value = 0.5 * i;
            sbuf[i].index = i;
            sbuf[i].mine = 0;
        }
        MPI_Send(sbuf, N, MPI_DOUBLE_INT, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        double total = 0.0;
        for (int i = 0; i < N; i++)
            rbuf[i].mine = 3 * i;
        MPI_Recv(rbuf, N, MPI_DOUBLE_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(rbuf) OPI207
        for (int i = 0; i < N; i++)
            total += rbuf[i].value * rbuf[i].index + rbuf[i].mine;
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
