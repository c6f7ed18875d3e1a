/* A posted receive completes its send while the receiver sits in a native call; head-to-head sends complete; waits drive the MPI below; nothing here may
 * hang. */
#include "check.h"

/* Calls that stay with the MPI below and return only when all ranks have come: collectives, one-sided, I/O, making communicators. */
enum native { BARRIER, ALLREDUCE, ALLTOALL, IBARRIER, FENCE, POST_START, WIN_CREATE, FILE_OPEN, WRITE_ALL, SPLIT, DUP, NATIVES };

static MPI_Win window;
static MPI_File file;
static double exposed[4];
static char scratch[] = "/tmp/opi-progress-XXXXXX";

/* Everyone's epoch needs everyone's. */
static void post_start_complete_wait(void) {
    MPI_Group all;
    double mine = rank;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Win_post(all, 0, window);
    MPI_Win_start(all, 0, window);
    MPI_Put(&mine, 1, MPI_DOUBLE, (rank + 1) % size, 1, 1, MPI_DOUBLE, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    CHECK(exposed[1] == (rank + size - 1) % size);
    MPI_Group_free(&all);
}

static void native(enum native which) {
    int in = 1, out = 0;
    int from[64] = {0}, to[64] = {0};
    MPI_Request q;
    MPI_Win other;
    MPI_File f;
    MPI_Comm c;
    CHECK(size <= 64);
    switch (which) {
    case BARRIER: MPI_Barrier(MPI_COMM_WORLD); break;
    case ALLREDUCE:
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(out == size);
        break;
    case ALLTOALL: MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_WORLD); break;
    case IBARRIER:
        MPI_Ibarrier(MPI_COMM_WORLD, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        break;
    case FENCE: MPI_Win_fence(0, window); break;
    case POST_START: post_start_complete_wait(); break;
    case WIN_CREATE:
        MPI_Win_create(to, sizeof to, sizeof to[0], MPI_INFO_NULL, MPI_COMM_WORLD, &other);
        MPI_Win_free(&other);
        break;
    case FILE_OPEN:
        CHECK(MPI_File_open(MPI_COMM_WORLD, scratch, MPI_MODE_RDWR, MPI_INFO_NULL, &f) == MPI_SUCCESS);
        MPI_File_close(&f);
        break;
    case WRITE_ALL:
        CHECK(MPI_File_write_at_all(file, (MPI_Offset)rank * (MPI_Offset)sizeof rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        MPI_File_sync(file);
        CHECK(MPI_File_read_at_all(file, (MPI_Offset)rank * (MPI_Offset)sizeof rank, &out, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(out == rank);
        break;
    case SPLIT:
        MPI_Comm_split(MPI_COMM_WORLD, rank & 1, rank, &c);
        MPI_Comm_free(&c);
        break;
    default:
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        MPI_Comm_free(&c);
    }
}

static void irecv_native_wait(int n, int how, enum native which) {
    int peer = rank ^ 1;
    if (peer >= size) {
        native(which);
        return;
    }
    if (rank & 1) {
        int *b = NULL, *given = NULL;
        MPI_Request q;
        if (how & 1)
            OPI_Itake(&given, n, MPI_INT, peer, 5, MPI_COMM_WORLD, &q);
        else {
            b = malloc(sizeof(int) * (size_t)n);
            MPI_Irecv(b, n, MPI_INT, peer, 5, MPI_COMM_WORLD, &q);
        }
        native(which);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        CHECK(same((how & 1) ? given : b, n, peer * 1000));
        if (given)
            OPI_Free(&given);
        free(b);
    } else {
        int *b;
        OPI_Alloc(&b, sizeof(int) * (size_t)n);
        fill(b, n, rank * 1000);
        usleep(5000); /* the receive is posted and its rank is inside the native call */
        if (how & 2)
            MPI_Ssend(b, n, MPI_INT, peer, 5, MPI_COMM_WORLD);
        else
            MPI_Send(b, n, MPI_INT, peer, 5, MPI_COMM_WORLD);
        native(which);
        OPI_Free(&b);
    }
}

static void head_to_head(int n, int how) {
    int peer = rank ^ 1;
    if (peer >= size)
        return;
    int *s, *t = NULL;
    OPI_Alloc(&s, sizeof(int) * (size_t)n + 1);
    fill(s, n, rank);
    int *priv = malloc(sizeof(int) * (size_t)n + 1);
    fill(priv, n, rank);
    switch (how) {
    case 0: MPI_Send(s, n, MPI_INT, peer, 1, MPI_COMM_WORLD); break;
    case 1: MPI_Send(priv, n, MPI_INT, peer, 1, MPI_COMM_WORLD); break;
    case 2: {
        MPI_Request q;
        MPI_Isend(s, n, MPI_INT, peer, 1, MPI_COMM_WORLD, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        break;
    }
    case 3: {
        MPI_Request q;
        int flag = 0;
        MPI_Isend(s, n, MPI_INT, peer, 1, MPI_COMM_WORLD, &q);
        while (!flag)
            MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
        break;
    }
    case 4: {
        MPI_Request q;
        MPI_Isend(s, n, MPI_INT, peer, 1, MPI_COMM_WORLD, &q);
        MPI_Waitall(1, &q, MPI_STATUSES_IGNORE);
        break;
    }
    default: {
        int *g;
        OPI_Alloc(&g, sizeof(int) * (size_t)n + 1);
        fill(g, n, rank);
        OPI_Give(&g, n, MPI_INT, peer, 1, MPI_COMM_WORLD);
    }
    }
    fill(s, n, -7);
    fill(priv, n, -7);
    OPI_Take(&t, n, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(same(t, n, peer));
    OPI_Free(&t);
    OPI_Free(&s);
    free(priv);
}

/* More small messages than a ring holds, both ways, before anything is received; then received in the opposite order of tags. */
static void flood(int n) {
    int peer = rank ^ 1;
    if (peer >= size)
        return;
    for (int i = 0; i < n; i++)
        MPI_Send(&i, 1, MPI_INT, peer, i % 3, MPI_COMM_WORLD);
    for (int tag = 2; tag >= 0; tag--)
        for (int i = tag; i < n; i += 3) {
            int v = -1;
            MPI_Recv(&v, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(v == i);
        }
}

/* The same with the receiver in a barrier: its helper makes room. */
static void flood_into_barrier(int n) {
    if (rank == 0 && size > 1) {
        for (int i = 0; i < n; i++)
            MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        return;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 1 && i < n; i++) {
        int v = -1;
        MPI_Recv(&v, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(v == i);
    }
}

/* A nonblocking collective and a message each wait for the other. */
static void with_iallreduce(void) {
    int in = 1, out = 0, peer = rank ^ 1, v = -1;
    MPI_Request q[2];
    MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q[0]);
    if (peer < size) {
        MPI_Irecv(&v, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &q[1]);
        if (rank & 1)
            MPI_Wait(&q[0], MPI_STATUS_IGNORE);
        MPI_Ssend(&rank, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
        if (rank & 1)
            MPI_Wait(&q[1], MPI_STATUS_IGNORE);
        else
            MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        CHECK(v == peer);
    } else {
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    }
    CHECK(out == size);
}

/* Passive one-sided operations may need the target to drive the MPI: it waits in a receive of ours meanwhile. */
static void passive_under_a_wait(int how) {
    double one = 1, after = -1;
    int v = -1;
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Win_fence(0, window);
    exposed[0] = 0;
    MPI_Win_fence(0, window);
    if (rank != 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Accumulate(&one, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, window);
        MPI_Win_unlock(0, window);
        MPI_Ssend(&rank, 1, MPI_INT, 0, 17, MPI_COMM_WORLD);
    }
    for (int i = 1; rank == 0 && i < size; i++) {
        if (how == 0) {
            MPI_Recv(&v, 1, MPI_INT, i, 17, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (how == 1) {
            MPI_Irecv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 17, MPI_COMM_WORLD, &q);
            MPI_Waitall(1, &q, MPI_STATUSES_IGNORE);
        } else {
            MPI_Status st;
            MPI_Probe(i, 17, MPI_COMM_WORLD, &st);
            MPI_Recv(&v, 1, MPI_INT, i, 17, MPI_COMM_WORLD, &st);
        }
        CHECK(v > 0 && v < size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(&after, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
    MPI_Win_unlock(0, window);
    CHECK(after == size - 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* More than the cap, with the receiver away: the sender waits for room, and goes on when the receiver takes messages. */
static void beyond_the_cap(void) {
    enum { N = 40, INTS = 50000 };
    int *b = malloc(sizeof(int) * INTS);
    if (rank == 0 && size > 1) {
        for (int i = 0; i < N; i++) {
            fill(b, INTS, i);
            MPI_Send(b, INTS, MPI_INT, 1, 3, MPI_COMM_WORLD);
        }
    } else if (rank == 1) {
        usleep(20000);
        for (int i = 0; i < N; i++) {
            MPI_Recv(b, INTS, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(same(b, INTS, i));
        }
    }
    free(b);
}

int main(int argc, char **argv) {
    start(&argc, &argv);
    static const int sizes[] = {1, 100, 20000, 1000000};
    if (rank == 0) {
        int fd = mkstemp(scratch);
        CHECK(fd >= 0);
        close(fd);
    }
    MPI_Bcast(scratch, sizeof scratch, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Win_create(exposed, sizeof exposed, sizeof exposed[0], MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    CHECK(MPI_File_open(MPI_COMM_WORLD, scratch, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    for (int i = 0; i < 4; i++)
        for (int how = 0; how < 4; how++)
            for (int which = 0; which < (i == 1 || i == 3 ? NATIVES : 1); which++)
                irecv_native_wait(sizes[i], how, (enum native)which);
    for (int how = 0; how < 3; how++)
        passive_under_a_wait(how);
    beyond_the_cap();
    MPI_Barrier(MPI_COMM_WORLD);
    /* The MPI below need not buffer large messages. */
    int below = getenv("OPI_NODE_RANKS") || getenv("OPI_DISABLE");
    for (int i = 0; i < (below ? 2 : 4); i++)
        for (int how = 0; how < 6; how++)
            head_to_head(sizes[i], how);
    flood(1000);
    MPI_Barrier(MPI_COMM_WORLD);
    flood_into_barrier(1000);
    for (int i = 0; i < 20; i++)
        with_iallreduce();
    MPI_Win_free(&window);
    MPI_File_close(&file);
    if (rank == 0)
        unlink(scratch);
    return finish();
}
