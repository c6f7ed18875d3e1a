/* An operation of the program keeps the address of the buffer that it was called with. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1000

static double *seen;

static void add(void *in, void *out, int *length, MPI_Datatype *type)
{
    (void)type;
    seen = in;
    for (int i = 0; i < *length; i++)
        ((double *)out)[i] += ((double *)in)[i];
}

int main(int argc, char **argv)
{
    int rank;
    double *sbuf = malloc(N * sizeof(double)), *rbuf = malloc(N * sizeof(double));
    double sums[N] = {0}, total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = i + 1;
        MPI_Reduce_local(sbuf, sums, N, MPI_DOUBLE, op);
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI103
        total = seen[3];
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            total += rbuf[i];
    }
    printf("%d %g %g\n", rank, total, sums[5]);
    MPI_Op_free(&op);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
