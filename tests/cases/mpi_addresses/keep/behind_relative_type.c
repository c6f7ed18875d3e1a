/* A type reaches from one variable to another, which is unpacked into. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static int base, n = 1000;

int main(int argc, char **argv)
{
    int rank, size;
    double *sbuf = malloc(N * sizeof(double)), *rbuf = malloc(N * sizeof(double));
    double total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int one = 1;
    MPI_Aint from, to;
    MPI_Datatype type;
    MPI_Get_address(&base, &from);
    MPI_Get_address(&n, &to);
    to = MPI_Aint_diff(to, from);
    MPI_Type_create_hindexed(1, &one, &to, MPI_INT, &type);
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
    int two = 2000, position = 0;
    MPI_Unpack(&two, sizeof two, &position, &base, 1, type, MPI_COMM_SELF);
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
