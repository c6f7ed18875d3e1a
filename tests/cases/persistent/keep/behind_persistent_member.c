/* The header of a persistent receive is a part of a struct, beside its request. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

struct halo {
    int tag, n;
    MPI_Request receive;
};

static void prepare(struct halo *halo, int rank)
{
    MPI_Recv_init(&halo->n, 1, MPI_INT, rank, halo->tag, MPI_COMM_WORLD, &halo->receive);
}

int main(int argc, char **argv)
{
    int rank;
    double *sbuf = malloc(N * sizeof(double)), *rbuf = malloc(N * sizeof(double));
    double total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct halo halo = {5, 1000, MPI_REQUEST_NULL};
    prepare(&halo, rank);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = i + 1;
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD); //~ keep(sbuf) OPI102
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            total += rbuf[i];
    }
    for (int i = 0; i < halo.n; i++)
        sbuf[i] = 2 * i;
    int two = 2000, done = 0;
    MPI_Start(&halo.receive);
    MPI_Send(&two, 1, MPI_INT, rank, 5, MPI_COMM_WORLD);
    while (!done)
        MPI_Test(&halo.receive, &done, MPI_STATUS_IGNORE);
    if (rank == 0) {
        MPI_Send(sbuf, halo.n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < halo.n; i++)
            total += rbuf[i] * (i % 7);
    }
    printf("%d %g\n", rank, total);
    MPI_Request_free(&halo.receive);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
