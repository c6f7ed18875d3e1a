/* Summed up in a loop, as an int and as a long, and looked at before more is added. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 64

int main(int argc, char **argv)
{
    int rank, k = 0;
    long w = 0;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long a = (long)strtod("4294967302", NULL);
    if (rank == 0) {
        double *b = malloc(N * sizeof(double));
        for (int i = 0; i < N; i++)
            b[i] = 0.5 * i;
        for (int turn = 0; turn < 2; turn++) {
            if (turn == 1) {
                if (w > 100)
                    MPI_Send(b, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep
                if (k <= 100)
                    sum += b[3];
            }
            w += a;
            k += (int)a;
        }
        free(b);
    } else if (rank == 1) {
        static double in[N];
        MPI_Recv(in, N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
        for (int i = 0; i < N; i++)
            sum += in[i] * (i + 1);
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
