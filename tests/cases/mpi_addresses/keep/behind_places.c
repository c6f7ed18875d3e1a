/* The same call makes a type of distances first, then one of addresses. */
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
    int n = 1000;
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
    struct {
        int a, b;
    } pair;
    for (int t = 0; t < 2; t++) {
        int one = 1, two = 2000;
        MPI_Aint here, there;
        MPI_Datatype type;
        MPI_Get_address(&pair.a, &here);
        MPI_Get_address(t == 0 ? &pair.b : &n, &there);
        there = t == 0 ? there - here : there;
        MPI_Type_create_hindexed(1, &one, &there, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Sendrecv(&two, 1, MPI_INT, rank, 5, t == 0 ? (void *)&pair : MPI_BOTTOM, 1, type, rank, 5, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Type_free(&type);
    }
    if (rank == 0) {
        MPI_Send(sbuf, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            total += rbuf[i] * (i % 7);
    }
    printf("%d %g\n", rank, total);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
