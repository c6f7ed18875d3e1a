/*
 * lazy: buffers that are much larger than what is used of them. Memory comes when it is touched; handing such a buffer over, taking
 * into one and forking beside one cost what the message costs; and nobody can make the heap's file shorter.
 */
#define _GNU_SOURCE
#include "../check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOM ((size_t)500 * 1000 * 1000) /* doubles: 4 GB */
#define USED 2000
#define TURNS 300

static long peak_kib(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss;
}

static void exchange(int rank, int size, int turn)
{
    double *out, *in;
    MPI_Request request;
    MPI_Status status;
    int n = USED - turn % 7, came = 0;
    CHECK(OPI_Alloc(&out, ROOM * sizeof *out) == MPI_SUCCESS);
    for (int i = 0; i < n; i++)
        out[i] = rank + turn + i;
    CHECK(OPI_Igive(&out, n, MPI_DOUBLE, (rank + 1) % size, turn, MPI_COMM_WORLD, &request) == MPI_SUCCESS && !out);
    CHECK(OPI_Take(&in, (int)ROOM, MPI_DOUBLE, (rank + size - 1) % size, turn, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_DOUBLE, &came);
    CHECK(came == n);
    for (int i = 0; i < n; i++)
        CHECK(in[i] == (rank + size - 1) % size + turn + i);
    in[ROOM - 1] = turn; /* there is room for all that was asked for */
    CHECK(OPI_Free(&in) == MPI_SUCCESS);
}

/* A sender that runs ahead: the window is not used up by buffers that nobody has received yet. */
static void ahead(int rank)
{
    double *b;
    for (int k = 0; k < TURNS; k++) {
        if (rank == 0) {
            CHECK(OPI_Alloc(&b, ROOM * sizeof *b) == MPI_SUCCESS);
            for (int i = 0; i < USED; i++)
                b[i] = k + i;
            CHECK(OPI_Give(&b, USED, MPI_DOUBLE, 1, 1000 + k, MPI_COMM_WORLD) == MPI_SUCCESS);
        } else if (rank == 1) {
            CHECK(OPI_Take(&b, USED, MPI_DOUBLE, 0, 1000 + k, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
            CHECK(b[0] == k && b[USED - 1] == k + USED - 1);
            OPI_Free(&b);
        }
    }
}

static void forked(void)
{
    double *b;
    CHECK(OPI_Alloc(&b, ROOM * sizeof *b) == MPI_SUCCESS);
    b[0] = 5;
    b[ROOM / 2] = 7;
    pid_t child = fork();
    if (child == 0) {
        int good = b[0] == 5 && b[ROOM / 2] == 7;
        b[0] = 9;
        _exit(good ? 0 : 1);
    }
    int status = 1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    CHECK(b[0] == 5);
    OPI_Free(&b);
}

static void sealed(void)
{
    int found = 0;
    for (int fd = 0; fd < 64; fd++) {
        char path[64], name[64] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, name, sizeof name - 1) < 0 || !strstr(name, "opi-heap"))
            continue;
        found++;
        errno = 0;
        CHECK(ftruncate(fd, 4096) != 0 && errno == EPERM);
    }
    CHECK(found == 1);
}

int main(int argc, char **argv)
{
    int size;
    start(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long before = peak_kib();
    for (int turn = 0; turn < TURNS; turn++)
        exchange(world_rank, size, turn);
    MPI_Barrier(MPI_COMM_WORLD);
    if (size > 1)
        ahead(world_rank);
    forked();
    sealed();
    CHECK(peak_kib() - before < 100000);
    return finish("lazy");
}
