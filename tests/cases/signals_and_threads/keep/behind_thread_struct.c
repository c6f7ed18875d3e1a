/* A thread reads the message's buffer through a struct that leads to another one, in which its address is. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1000

struct inner {
    double *values;
};

struct work {
    struct inner *inner;
    double sum;
    pthread_barrier_t bar;
};

static void *worker(void *given)
{
    struct work *work = given;
    pthread_barrier_wait(&work->bar);
    for (int i = 0; i < N; i++)
        work->sum += work->inner->values[i];
    return NULL;
}

int main(int argc, char **argv)
{
    int rank;
    double *sbuf = malloc(N * sizeof(double)), *rbuf = malloc(N * sizeof(double));
    struct inner *inner = malloc(sizeof *inner);
    struct work work;
    pthread_t thread;
    double total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    inner->values = sbuf;
    work.inner = inner;
    work.sum = 0;
    pthread_barrier_init(&work.bar, NULL, 2);
    pthread_create(&thread, NULL, worker, &work);
    for (int i = 0; i < N; i++)
        sbuf[i] = i + 1;
    if (rank == 0) {
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI103
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            total += rbuf[i];
    }
    pthread_barrier_wait(&work.bar);
    pthread_join(thread, NULL);
    printf("%d %g %g\n", rank, total, work.sum);
    pthread_barrier_destroy(&work.bar);
    free(inner);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
