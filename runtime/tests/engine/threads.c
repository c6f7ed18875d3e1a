/* MPI_THREAD_MULTIPLE: several threads of each rank exchange on tags of their own, and allocate and free all the while; they make communicators and datatypes,
 * use them and free them. */
#include "check.h"
#include <pthread.h>

#define THREADS 3
#define ROUNDS 300

static void *work(void *arg) {
    int tag = (int)(long)arg, to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int i = 0; i < ROUNDS; i++) {
        int n = 1 + i * 37 % 3000, *s, *t;
        MPI_Request q[2];
        MPI_Status st[2];
        OPI_Itake(&t, n, MPI_INT, i % 5 ? from : MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &q[0]);
        OPI_Alloc(&s, sizeof(int) * (size_t)n);
        fill(s, n, i + tag);
        if (i % 3)
            OPI_Igive(&s, n, MPI_INT, to, tag, MPI_COMM_WORLD, &q[1]);
        else
            MPI_Isend(s, n, MPI_INT, to, tag, MPI_COMM_WORLD, &q[1]);
        MPI_Waitall(2, q, st);
        CHECK(t && same(t, n, i + tag) && st[0].MPI_SOURCE == from);
        if (i % 3 == 0)
            OPI_Free(&s);
        OPI_Free(&t);
    }
    return NULL;
}

static MPI_Comm base[THREADS];

/* The same envelope on a communicator of each thread, of which many come and go. */
static void *communicators(void *arg) {
    int id = (int)(long)arg, to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int i = 0; i < ROUNDS / 5; i++) {
        int out[3] = {id, i, rank}, in[6] = {-1, -1, -1, -1, -1, -1};
        MPI_Comm comm;
        MPI_Datatype apart;
        MPI_Request q;
        MPI_Comm_dup(base[id], &comm);
        MPI_Type_vector(3, 1, 2, MPI_INT, &apart);
        MPI_Type_commit(&apart);
        MPI_Irecv(in, 1, apart, from, 0, comm, &q);
        MPI_Type_free(&apart);
        MPI_Send(out, 3, MPI_INT, to, 0, comm);
        if (i % 2)
            MPI_Comm_free(&comm); /* while the receive is pending */
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        CHECK(in[0] == id && in[2] == i && in[4] == from);
        if (i % 2 == 0)
            MPI_Comm_free(&comm);
    }
    return NULL;
}

static void together(void *(*what)(void *)) {
    pthread_t t[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, what, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided == MPI_THREAD_MULTIPLE) {
        together(work);
        for (int i = 0; i < THREADS; i++)
            MPI_Comm_dup(MPI_COMM_WORLD, &base[i]);
        together(communicators);
        for (int i = 0; i < THREADS; i++)
            MPI_Comm_free(&base[i]);
    }
    return finish();
}
