/* What comes to a rank that does not look, that sleeps, or that looks for something else: all sizes that go different ways, from all others at once,
 * in order of each sender, more than any ring of slots holds. */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <opi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAIL(...) (fprintf(stderr, "rank %d, line %d: ", rank, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), MPI_Abort(MPI_COMM_WORLD, 9))
#define CHECK(got, want) do { long g_ = (long)(got), w_ = (long)(want); if (g_ != w_) FAIL("%s: got %ld, want %ld", #got, g_, w_); } while (0)

enum { MANY = 150, MOST = 32769 };
static const MPI_Comm world = MPI_COMM_WORLD;
static const int sizes[] = {0, 8, 40, 41, 103, 104, 105, 500, 8192, 32768, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

static int bytes_of(int k, int src) {
    return sizes[(k * 7 + src) % SIZES];
}

static void fill(char *b, int n, int seed) {
    for (int i = 0; i < n; i++)
        b[i] = (char)(seed * 31 + i);
}

static void expect(int rank, const char *b, int n, int seed) {
    for (int i = 0; i < n; i++)
        CHECK(b[i], (char)(seed * 31 + i));
}

/* One message, its way by number and form: a send of each mode, a give, a nonblocking send. */
static void send_one(int rank, int to, int k, int form, MPI_Request *pending, char *out) {
    int n = bytes_of(k, rank);
    char *block;
    *pending = MPI_REQUEST_NULL;
    fill(out, n, k + rank);
    switch ((k + form) % 5) {
    case 0:
        OPI_Alloc(&block, (size_t)n + 1);
        fill(block, n, k + rank);
        OPI_Give(&block, n, MPI_CHAR, to, k, world);
        break;
    case 1:
        MPI_Issend(out, n, MPI_CHAR, to, k, world, pending);
        break;
    case 2:
        MPI_Isend(out, n, MPI_CHAR, to, k, world, pending);
        break;
    default:
        MPI_Send(out, n, MPI_CHAR, to, k, world);
    }
}

/* Rank 0 gets everything; `how` 0: it slept before; 1: by wildcards; 2: by takes; 3: receives posted before. */
static void flood(int rank, int size, int how) {
    char *in = malloc(MOST), *took;
    MPI_Status s;
    int n;
    if (rank == 0) {
        int *next = calloc((size_t)size, sizeof *next);
        MPI_Request *q = malloc((size_t)size * MANY * sizeof *q);
        char *all = how == 3 ? malloc((size_t)size * MANY * MOST) : NULL;
        for (int i = 0; how == 3 && i < (size - 1) * MANY; i++)
            MPI_Irecv(all + (size_t)i * MOST, MOST, MPI_CHAR, 1 + i % (size - 1), MPI_ANY_TAG, world, &q[i]);
        MPI_Barrier(world);
        if (how != 3)
            usleep(3000);
        for (int i = 0; i < (size - 1) * MANY; i++) {
            int source = how == 1 ? MPI_ANY_SOURCE : 1 + i % (size - 1);
            if (how == 3)
                MPI_Wait(&q[i], &s);
            else if (how == 2)
                OPI_Take(&took, MOST, MPI_CHAR, source, MPI_ANY_TAG, world, &s);
            else
                MPI_Recv(in, MOST, MPI_CHAR, source, MPI_ANY_TAG, world, &s);
            int k = next[s.MPI_SOURCE]++;
            CHECK(s.MPI_TAG, k);
            MPI_Get_count(&s, MPI_CHAR, &n);
            CHECK(n, bytes_of(k, s.MPI_SOURCE));
            expect(rank, how == 3 ? all + (size_t)i * MOST : how == 2 ? took : in, n, k + s.MPI_SOURCE);
            if (how == 2)
                OPI_Free(&took);
        }
        free(next);
        free(q);
        free(all);
    } else {
        char *out = malloc((size_t)MANY * MOST);
        MPI_Request q[MANY];
        MPI_Barrier(world);
        for (int k = 0; k < MANY; k++)
            send_one(rank, 0, k, how, &q[k], out + (size_t)k * MOST);
        MPI_Waitall(MANY, q, MPI_STATUSES_IGNORE);
        free(out);
    }
    free(in);
    MPI_Barrier(world);
}

/* Neighbours in a ring: so many small messages that a rank has its lock for itself, then one that its sender matches, or a send that is taken back; and the
 * receive is there first, or the message. */
static void turns(int rank, int size) {
    int to = (rank + 1) % size, from = (rank + size - 1) % size, flag;
    char *out = malloc(MOST), *in = malloc(MOST), *took;
    MPI_Request q[2];
    MPI_Status s;
    for (int round = 0; round < 40; round++) {
        for (int k = 0; k < 40 * (round % 10); k++) {
            int x = -1;
            MPI_Sendrecv(&k, 1, MPI_INT, to, 3, &x, 1, MPI_INT, from, 3, world, MPI_STATUS_IGNORE);
            CHECK(x, k);
        }
        fill(out, MOST, rank + round);
        if (round % 3 == 0)
            MPI_Irecv(in, MOST, MPI_CHAR, from, 4, world, &q[0]);
        if (round % 2)
            MPI_Isend(out, MOST, MPI_CHAR, to, 4, world, &q[1]);
        else
            MPI_Issend(out, 1 + round, MPI_CHAR, to, 4, world, &q[1]);
        if (round % 3)
            MPI_Irecv(in, MOST, MPI_CHAR, from, 4, world, &q[0]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        expect(rank, in, round % 2 ? MOST : 1 + round, from + round);
        MPI_Issend(out, 1, MPI_CHAR, to, 6, world, &q[0]); /* nobody receives it */
        MPI_Cancel(&q[0]);
        MPI_Wait(&q[0], &s);
        MPI_Test_cancelled(&s, &flag);
        CHECK(flag, 1);
        OPI_Alloc(&took, 500);
        fill(took, 500, rank);
        OPI_Igive(&took, 500, MPI_CHAR, to, 8, world, &q[0]);
        CHECK(took == NULL, 1);
        OPI_Take(&took, 500, MPI_CHAR, from, 8, world, MPI_STATUS_IGNORE);
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
        expect(rank, took, 500, from);
        OPI_Free(&took);
    }
    free(out);
    free(in);
    MPI_Barrier(world);
}

/* Rank 0 waits for one message while others come, one by one and in bursts, and it has long gone to sleep. */
static void asleep(int rank, int size) {
    int x = 0, y = 0, flag = 0, to = 0;
    MPI_Request q;
    for (int round = 0; round < 6; round++) {
        if (rank == 0) {
            if (round % 3 == 0) {
                MPI_Recv(&x, 1, MPI_INT, 1, 7, world, MPI_STATUS_IGNORE);
            } else if (round % 3 == 1) {
                MPI_Irecv(&x, 1, MPI_INT, 1, 7, world, &q);
                for (flag = 0; !flag;)
                    MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
            } else {
                MPI_Probe(1, 7, world, MPI_STATUS_IGNORE);
                MPI_Recv(&x, 1, MPI_INT, 1, 7, world, MPI_STATUS_IGNORE);
            }
            CHECK(x, 1000 + round);
            for (int src = 1; src < size; src++)
                for (int k = 0; k < 3; k++) {
                    MPI_Recv(&y, 1, MPI_INT, src, 5, world, MPI_STATUS_IGNORE);
                    CHECK(y, src * 10 + k);
                }
        } else {
            usleep(400);
            for (int k = 0; k < 3; k++) {
                y = rank * 10 + k;
                MPI_Send(&y, 1, MPI_INT, to, 5, world);
                if (round % 2)
                    usleep(300);
            }
            x = 1000 + round;
            if (rank == 1)
                MPI_Send(&x, 1, MPI_INT, to, 7, world);
        }
        MPI_Barrier(world);
    }
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    for (int how = 0; size > 1 && how < 4; how++)
        flood(rank, size, how);
    if (size > 1) {
        turns(rank, size);
        asleep(rank, size);
    }
    if (rank == 0)
        printf("ok %d\n", size);
    MPI_Finalize();
    return 0;
}
