/* A thread changes a local count through the struct that it was given, between two barriers. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

struct work {
    int *count;
    pthread_barrier_t bar;
};

static void *worker(void *given)
{
    struct work *work = given;
    pthread_barrier_wait(&work->bar);
    *work->count = 2000;
    pthread_barrier_wait(&work->bar);
    return NULL;
}

int main(int argc, char **argv)
{
    int rank;
    double *sbuf = malloc(N * sizeof(double)), *rbuf = malloc(N * sizeof(double));
    double total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int n = 1000;
    struct work work;
    pthread_t thread;
    work.count = &n;
    pthread_barrier_init(&work.bar, NULL, 2);
    pthread_create(&thread, NULL, worker, &work);
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
    pthread_barrier_wait(&work.bar);
    pthread_barrier_wait(&work.bar);
    if (rank == 0) {
        MPI_Send(sbuf, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            total += rbuf[i] * (i % 7);
    }
    printf("%d %g\n", rank, total);
    pthread_join(thread, NULL);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
