/* How often a loop runs is believed; what has been counted is an int again. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 64

int main(int argc, char **argv)
{
    int rank, j;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long a = (long)strtod("4294967302", NULL);
    int k = (int)a;
    if (a < 1) {
        MPI_Finalize();
        return 1;
    }
    for (j = 0; j < k; j++)
        ;
    if (rank == 0) {
        double *b = malloc(N * sizeof(double));
        for (int i = 0; i < N; i++)
            b[i] = 0.5 * i;
        if (a > 100)
            MPI_Send(b, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep
        if (j <= 100)
            sum += b[3];
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
