/* The address in a type is a number that was made by a cast. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

int main(int argc, char **argv)
{
    int rank;
    double *sbuf = malloc(N * sizeof(double)), *rbuf = malloc(N * sizeof(double));
    double total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int n = 1000, one = 1;
    MPI_Aint at = (MPI_Aint)&n;
    MPI_Datatype type;
    MPI_Type_create_hindexed(1, &one, &at, MPI_INT, &type);
    MPI_Type_commit(&type);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = i + 1;
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD); //~ keep(sbuf) OPI102
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            total += rbuf[i];
    }
    for (int i = 0; i < n; i++)
        sbuf[i] = 2 * i;
    int two = 2000;
    MPI_Sendrecv(&two, 1, MPI_INT, rank, 5, MPI_BOTTOM, 1, type, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) {
        MPI_Send(sbuf, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            total += rbuf[i] * (i % 7);
    }
    printf("%d %g\n", rank, total);
    MPI_Type_free(&type);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
