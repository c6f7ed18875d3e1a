/* The function that allocates also ends the program when it is asked for too much. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

static double *vector(int n)
{
    double *b = malloc((size_t)n * sizeof(double));
    if (b == NULL || n > N / 2) {
        fprintf(stderr, "too much\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return b;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *sbuf = vector(argc > 5 ? N : N / 2);
    double *rbuf = vector(argc > 5 ? N : N / 2);
    if (rank == 0) {
        for (int i = 0; i < N / 2; i++)
            sbuf[i] = 2.0 * u[i];
        MPI_Send(sbuf, N / 2, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
    } else if (rank == 1) {
        MPI_Recv(rbuf, N / 2, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        for (int i = 0; i < N / 2; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
//~ points 10
