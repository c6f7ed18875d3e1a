/* A cast has an array size in it that is read from memory. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2000

struct shape {
    int n, m;
};

int main(int argc, char **argv)
{
    int rank, got;
    double total = 0.0;
    double *sbuf = malloc(2 * N * sizeof(double)), *rbuf = malloc(2 * N * sizeof(double));
    double *q = calloc(N * N, sizeof(double));
    struct shape *shape = malloc(sizeof *shape);
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    shape->n = 10;
    shape->m = 20;
    for (int i = 0; i < 2 * N; i++)
        sbuf[i] = i;
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                sbuf[i] = k + 0.5 * i;
            MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
            total += ((double (*)[shape->n][shape->m])q)[k][1][1];
        } else if (rank == 1) {
            MPI_Recv(rbuf, 2 * N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_DOUBLE, &got);
            for (int i = 0; i < got; i++)
                total += (k + 1) * rbuf[i];
        }
    }
    printf("%d: %.17g\n", rank, total);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
