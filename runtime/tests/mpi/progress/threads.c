/*
 * MPI_THREAD_MULTIPLE: several threads of each rank exchange at once, each pair with a tag of its own, in every form; and
 * memory allocated in one thread is freed in another.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "../forms.h"

#define THREADS 3
#define ROUNDS 150

static int peer;
static char *handed[THREADS];

static void *work(void *argument)
{
    int id = (int)(intptr_t)argument;

    for (int i = 0; i < ROUNDS; i++) {
        static const size_t sizes[] = {8, 40, 4096, 60000};
        size_t bytes = sizes[(i + id) % 4];
        char *out = NULL, *in = NULL;
        MPI_Request request;
        MPI_Status status;
        int count = 0;

        OPI_Alloc(&out, bytes);
        fill(out, bytes, (unsigned)(i * THREADS + id));
        if (i % 2)
            OPI_Igive(&out, (int)bytes, MPI_BYTE, peer, id, MPI_COMM_WORLD, &request);
        else
            MPI_Isend(out, (int)bytes, MPI_BYTE, peer, id, MPI_COMM_WORLD, &request);
        OPI_Take(&in, (int)bytes, MPI_BYTE, i % 3 ? peer : MPI_ANY_SOURCE, id, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK(count == (int)bytes && status.MPI_TAG == id);
        CHECK(in != NULL && differs(in, bytes, (unsigned)(i * THREADS + id)) == 0);
        CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        OPI_Free(&out);
        OPI_Free(&in);
    }
    OPI_Alloc(&handed[id], 5000);
    memset(handed[id], id, 5000);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    peer = world_rank ^ 1;
    trying("threads");
    if (provided == MPI_THREAD_MULTIPLE) {
        for (int i = 0; i < THREADS; i++)
            pthread_create(&thread[i], NULL, work, (void *)(intptr_t)i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(thread[i], NULL);
        for (int i = 0; i < THREADS; i++) {
            CHECK(handed[i] != NULL && handed[i][4999] == i);
            OPI_Free(&handed[i]);
        }
    } else if (world_rank == 0) {
        printf("threads: this MPI provides no MPI_THREAD_MULTIPLE\n");
    }
    return finish("threads");
}
