/* Coalescing: one buffer per target rank.  A full one is sent while the search
 * goes on; the last message of a level says that it is the last. */
#include "graph.h"

#define CAPACITY 1024           /* vertices per message, at most */

enum { TAG_MORE = 1, TAG_LAST };

static long out[MAXRANKS][CAPACITY];
static int nout[MAXRANKS];
static MPI_Request sending[MAXRANKS];
static long in[CAPACITY];
static int level, finished;     /* of this level: its number, and ranks that sent their last message */

/* Receive what has arrived. */
static void receive(graph *g)
{
    for (;;) {
        MPI_Status status;
        int arrived, n;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, &status);
        if (!arrived)
            return;
        MPI_Recv(in, CAPACITY, MPI_LONG, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_LONG, &n);
        for (int i = 0; i < n; i++)
            visit(g, in[i], level);
        if (status.MPI_TAG == TAG_LAST)
            finished++;
    }
}

/* Wait until the buffer for a rank may be filled again. */
static void wait_sent(graph *g, int rank)
{
    int done = 0;
    while (!done) {
        MPI_Test(&sending[rank], &done, MPI_STATUS_IGNORE);
        if (!done)
            receive(g);
    }
}

static void flush(int rank, int tag)
{
    MPI_Isend(out[rank], nout[rank], MPI_LONG, rank, tag, MPI_COMM_WORLD, &sending[rank]);
    nout[rank] = 0;
}

void outbox_begin(graph *g, int next_level)
{
    level = next_level;
    finished = 0;
    for (int r = 0; r < g->size; r++) {
        nout[r] = 0;
        sending[r] = MPI_REQUEST_NULL;
    }
}

void outbox_put(graph *g, int rank, long vertex)
{
    if (nout[rank] == 0)
        wait_sent(g, rank);
    out[rank][nout[rank]++] = vertex;
    if (nout[rank] == CAPACITY) {
        flush(rank, TAG_MORE);
        receive(g);
    }
}

void outbox_end(graph *g)
{
    for (int r = 0; r < g->size; r++) {
        if (r == g->rank)
            continue;
        wait_sent(g, r);
        flush(r, TAG_LAST);
    }
    while (finished < g->size - 1)
        receive(g);
    MPI_Waitall(g->size, sending, MPI_STATUSES_IGNORE);
}
