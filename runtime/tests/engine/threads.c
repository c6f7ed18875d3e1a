/* MPI_THREAD_MULTIPLE: several threads of each rank exchange on tags of their own, and allocate and free all the while. */
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

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided == MPI_THREAD_MULTIPLE) {
        pthread_t t[THREADS];
        for (long i = 0; i < THREADS; i++)
            pthread_create(&t[i], NULL, work, (void *)i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(t[i], NULL);
    }
    return finish();
}
