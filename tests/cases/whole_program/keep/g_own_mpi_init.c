/* The program has an MPI_Init of its own, so that libopi is never told to start. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

int MPI_Init(int *argc, char ***argv)
{
    return PMPI_Init(argc, argv);
}

int main(int argc, char **argv)
{
    int rank;
    double s = 0, *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in);
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            out[i] = i;
        MPI_Isend(out, N, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD, &request); //~ keep(out) OPI107
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Irecv(in, N, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, &request); //~ keep(in) OPI207
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            s += in[i];
    }
    printf("%d %g\n", rank, s);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}

//~ silent: the messages go past libopi, which is no access to memory
