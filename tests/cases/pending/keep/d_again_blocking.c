/* A receive into the buffer comes while another is pending there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, n = 200;
    MPI_Request first;
    double *in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    in = malloc(n * sizeof *in);
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            in[i] = 0.5 * i;
        MPI_Issend(in, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &first); //~ keep OPI107
        MPI_Wait(&first, MPI_STATUS_IGNORE);
        MPI_Issend(in, n, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, &first); //~ keep OPI107
        MPI_Wait(&first, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Irecv(in, n, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &first); //~ keep OPI206
        MPI_Recv(in, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI206
        MPI_Wait(&first, MPI_STATUS_IGNORE);
        printf("two messages came\n");
    }
    free(in);
    MPI_Finalize();
    return 0;
}
