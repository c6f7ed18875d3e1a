/* An operation of the program counts in a variable of its own; the type of a message holds addresses of another struct. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static int calls, n = N;
static struct {
    int first;
    double second;
} pair;

static void add(void *in, void *out, int *length, MPI_Datatype *type)
{
    (void)type;
    calls++;
    for (int i = 0; i < *length; i++)
        ((int *)out)[i] += ((int *)in)[i];
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *sbuf = malloc(N * sizeof(double)), *rbuf = malloc(N * sizeof(double));

    int one = 1, two = 2, lengths[2] = {1, 1};
    MPI_Aint at[2];
    MPI_Datatype type, types[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    MPI_Get_address(&pair.first, &at[0]);
    MPI_Get_address(&pair.second, &at[1]);
    MPI_Type_create_struct(2, lengths, at, types, &type);
    MPI_Type_commit(&type);
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            sbuf[i] = 2.0 * i + 1;
        MPI_Reduce_local(&one, &two, 1, MPI_INT, op);
        MPI_Send(sbuf, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
    } else if (rank == 1) {
        double total = 0.0;
        MPI_Recv(rbuf, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        for (int i = 0; i < n; i++)
            total += rbuf[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    if (calls > 1)
        printf("%d\n", calls);
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
