/* The function sets the second of two pointers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

static double *both[2], *more[2];

static void make(int n, double **p)
{
    (void)__func__; /* no other function has this text */
    p[1] = malloc(n * sizeof(double));
}

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    make(N, &both[0]);
    make(N, &more[0]);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            both[1][i] = 0.5 * i;
        MPI_Send(both[1], N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(both[1])
    } else if (rank == 1) {
        MPI_Recv(both[1], N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(both[1])
        for (int i = 0; i < N; i++)
            sum += both[1][i];
    }
    free(both[1]);
    free(more[1]);
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
