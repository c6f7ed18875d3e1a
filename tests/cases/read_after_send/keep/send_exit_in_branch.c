/* Only some of the turns look whether the loop is over. */
#include <mpi.h>
#include <stdio.h>

#define N 64

static double buf[N], in[N];
static int take[N + 1];

int main(int argc, char **argv)
{
    int rank, i;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (i = 0; i <= N; i++)
        take[i] = i != 8 && i != 9;
    if (rank == 0) {
        for (i = 0; i < N; i++)
            buf[i] = i + 1;
        MPI_Send(buf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(buf) OPI102
        i = 0;
        while (1) {
            if (take[i] && i >= 8)
                break;
            i++;
        }
        for (int j = 0; j < 8; j++)
            buf[j] = -j;
        MPI_Send(buf, i, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    } else if (rank == 1) {
        double s = 0;
        int n;
        MPI_Status st;
        MPI_Recv(in, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int j = 0; j < N; j++)
            s += in[j];
        MPI_Recv(in, N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &st);
        MPI_Get_count(&st, MPI_DOUBLE, &n);
        for (int j = 0; j < n; j++)
            s += in[j];
        printf("%d %.17g\n", n, s);
    }
    MPI_Finalize();
    return 0;
}
