/* A struct's pointers go by macros; so do the requests. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct halo {
    double *out, *in;
    int n;
};

#define OUT(h) ((h)->out)
#define IN h->in
#define START_SEND(h, to, rq) MPI_Isend(OUT(h), (h)->n, MPI_DOUBLE, to, 5, MPI_COMM_WORLD, rq)
#define FINISH(rq) MPI_Wait(rq, MPI_STATUS_IGNORE)

static void exchange(struct halo *h, int rank)
{
    MPI_Request rq;
    for (int i = 0; i < h->n; i++)
        OUT(h)[i] = rank + i;
    if (rank == 0) {
        START_SEND(h, 1, &rq); //~ give(OUT)
        FINISH(&rq);
    } else if (rank == 1) {
        MPI_Recv(IN, h->n, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(IN)
        printf("%g\n", IN[h->n - 1]);
    }
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct halo *h = malloc(sizeof *h);
    h->n = 77;
    h->out = malloc(h->n * sizeof(double));
    h->in = malloc(h->n * sizeof(double));
    exchange(h, rank);
    free(h->out);
    free(h->in);
    free(h);
    MPI_Finalize();
    return 0;
}
