/* A type of elements counts from one variable to another by the distance of their addresses: the length of the receive is set so. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static double in[64], out[64];

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = 64, m = 60, v[2] = {60, 60}, len[1] = {1};
    MPI_Aint a, b;
    MPI_Datatype type;

    MPI_Get_address(&m, &b);
    MPI_Get_address(&n, &a);
    int at[1] = {(int)(a - b) / 4};
    MPI_Type_indexed(1, len, at, MPI_INT, &type);
    MPI_Type_commit(&type);
    double sum = 0;
    for (int i = 0; i < 64; i++)
        in[i] = rank + i;
    for (int t = 0; t < 4; t++) {
        for (int i = 0; i < 64; i++)
            out[i] = rank + t + i;
        MPI_Request rq;
        MPI_Irecv(in, n, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &rq); //~ keep(in)
        MPI_Send(out, n, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD);
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        MPI_Sendrecv(v, 1, MPI_INT, rank, 5, &m, 1, type, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 64; i++)
            sum += in[i] * (i + t);
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
