/* A function whose loop is entered in two places keeps the address of the buffer, which is read by that after the send. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1000

static double *kept;

static int keeps(double *p, int k)
{
    if (k > 3)
        goto inside;
    while (k < N) {
        k += 2;
    inside:
        k++;
    }
    kept = p;
    return k;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *b = malloc(N * sizeof(double));
    int k = keeps(b, argc);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            b[i] = i + k;
        MPI_Send(b, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(b) OPI103
        printf("%g\n", kept[1]);
    } else if (rank == 1) {
        MPI_Recv(b, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(b)
        double sum = 0;
        for (int i = 0; i < N; i++)
            sum += kept[i] * i;
        printf("%g\n", sum);
    }
    free(b);
    MPI_Finalize();
    return 0;
}
