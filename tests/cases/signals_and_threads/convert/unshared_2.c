/* A thread computes on what it was given, the main one sends something else. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

struct part {
    double sum;
    int from, to;
};

static void *add(void *given)
{
    struct part *part = given;
    for (int i = part->from; i < part->to; i++)
        part->sum += i;
    return NULL;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *sbuf = malloc(N * sizeof(double)), *rbuf = malloc(N * sizeof(double));

    int n = N;
    struct part part = {0, 0, n};
    pthread_t thread;
    pthread_create(&thread, NULL, add, &part);
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            sbuf[i] = 2.0 * i + 1;
        MPI_Send(sbuf, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
    } else if (rank == 1) {
        double total = 0.0;
        MPI_Recv(rbuf, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        for (int i = 0; i < n; i++)
            total += rbuf[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    pthread_join(thread, NULL);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
