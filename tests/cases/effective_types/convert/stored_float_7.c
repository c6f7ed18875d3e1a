/* A count is read again after floating numbers were stored; pointers of both kinds are set to NULL in the end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2000

static void *place(void **places, int k)
{
    return places[k];
}

int main(int argc, char **argv)
{
    int rank, got;
    double total = 0.0;
    double *sbuf = malloc(2 * N * sizeof(double)), *rbuf = malloc(2 * N * sizeof(double));
    double *other = malloc(64 * sizeof(double));
    int *count = malloc(64 * sizeof(double));
    void *places[2] = { count, other };
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        sbuf[i] = i;
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            count[0] = N / 2;
            for (int i = 0; i < count[0]; i++)
                sbuf[i] = k + 0.5 * i;
            ((double *)place(places, argc > 5))[4 + argc] = 1.5;
            MPI_Send(sbuf, count[0], MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
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
    rbuf = NULL;
    free(count);
    count = NULL;
    MPI_Finalize();
    return 0;
}
