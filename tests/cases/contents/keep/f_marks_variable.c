/* The marks that each turn puts into the buffer are a number in a variable. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 200
static int in[N], out[N];

int main(int argc, char **argv)
{
    int rank, n;
    long sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 4; t++) {
        n = 100 + (t * 37) % 60;
        if (rank == 0) {
            for (int i = 0; i < n; i++)
                out[i] = i + t + 1;
            MPI_Send(out, n, MPI_INT, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            int mark = -7;
            for (int i = 0; i < N; i++)
                in[i] = mark;
            MPI_Recv(in, N, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI210
            for (int i = 0; i < N && in[i] != -7; i++)
                sum += in[i];
        }
    }
    printf("%d %ld\n", rank, sum);
    MPI_Finalize();
    return 0;
}
