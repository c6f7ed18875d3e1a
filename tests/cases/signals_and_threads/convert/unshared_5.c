/* A persistent request receives a number of its own, again and again. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *sbuf = malloc(N * sizeof(double)), *rbuf = malloc(N * sizeof(double));

    int n = N, head = 0, two = 2;
    MPI_Request requests[2];
    MPI_Recv_init(&head, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&two, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &requests[1]);
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            sbuf[i] = 2.0 * i + 1;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (head != two)
            printf("%d\n", head);
        MPI_Send(sbuf, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
    } else if (rank == 1) {
        double total = 0.0;
        MPI_Recv(rbuf, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        for (int i = 0; i < n; i++)
            total += rbuf[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
