/* midway.c HOW FILE [pause] - rank 1 is killed in the middle of something that others wait for, and no launcher ends the job (two ranks or more).  What came
 * of it is written to FILE: launchers lose what is printed then.
 *
 * Those who wait have to be told: MPI_ERR_PROC_FAILED where the MPI has that error, else MPI_ERR_OTHER, within some seconds.  With `pause` rank 1 only stops for a
 * while (three ranks): who waits for it does all else meanwhile.
 *
 * `taken-put`, `taken-get`, `taken-unlock`: rank 1 waits, has been asked for a small copy of its private memory (runtime/shared/onesided/ask.c), has taken the
 * question up, and stops inside of that copy: nobody but it could end it.
 *
 * Linked with --wrap=memcpy, --wrap=process_vm_readv and --wrap=process_vm_writev, so that rank 1 can be stopped inside libopi's copies, and with
 * --wrap=clock_gettime, so that rank 0 has the patience to be answered on a machine with other work, too. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#if defined(MPI_ERR_PROC_FAILED)
#define LOST MPI_ERR_PROC_FAILED
#elif defined(MPIX_ERR_PROC_FAILED)
#define LOST MPIX_ERR_PROC_FAILED
#else
#define LOST MPI_ERR_OTHER
#endif

#define BIG ((size_t)64 << 20)
#define BLOCK ((size_t)64 << 10)
#define PAUSE 3.0

static const char *how;
static FILE *result;
static int rank, paused;
static size_t fatal_bytes; /* a copy of so many bytes is where rank 1 stops */
static int fatal_after, slow;

static int is(const char *name)
{
    return strcmp(how, name) == 0;
}

/* In whole seconds: a question that is not answered within 2 us is withdrawn at the end of such a second. */
static int coarse;
int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
    int rc = __real_clock_gettime(id, t);
    if (coarse)
        t->tv_nsec = 0;
    return rc;
}

static double now(void)
{
    struct timespec t;
    __real_clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(void)
{
    if (paused)
        usleep((useconds_t)(PAUSE * 1e6));
    else
        raise(SIGKILL);
}

static void copying(size_t n)
{
    if (n == fatal_bytes && fatal_after-- == 0) {
        fatal_bytes = 0;
        stop();
    }
    if (n == BLOCK && slow)
        usleep(500); /* so that the other side takes blocks too */
}

void *__real_memcpy(void *to, const void *from, size_t n);
void *__wrap_memcpy(void *to, const void *from, size_t n);
void *__wrap_memcpy(void *to, const void *from, size_t n)
{
    copying(n);
    return __real_memcpy(to, from, n);
}

ssize_t __real_process_vm_readv(pid_t pid, const struct iovec *l, unsigned long ln, const struct iovec *r, unsigned long rn, unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *l, unsigned long ln, const struct iovec *r, unsigned long rn, unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *l, unsigned long ln, const struct iovec *r, unsigned long rn, unsigned long flags)
{
    copying(l->iov_len);
    return __real_process_vm_readv(pid, l, ln, r, rn, flags);
}

ssize_t __real_process_vm_writev(pid_t pid, const struct iovec *l, unsigned long ln, const struct iovec *r, unsigned long rn, unsigned long flags);
ssize_t __wrap_process_vm_writev(pid_t pid, const struct iovec *l, unsigned long ln, const struct iovec *r, unsigned long rn, unsigned long flags);
ssize_t __wrap_process_vm_writev(pid_t pid, const struct iovec *l, unsigned long ln, const struct iovec *r, unsigned long rn, unsigned long flags)
{
    copying(l->iov_len);
    return __real_process_vm_writev(pid, l, ln, r, rn, flags);
}

/* The end of rank 0's part. */
static void told(int rc, double begun, double most)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(rc, &class);
    double s = now() - begun;
    int good = class == LOST && s < most;
    fprintf(result, "midway %s: %s, class %d, after %.2f s\n", how, good ? "told" : "NOT told", class, s);
    fflush(result);
    kill(getpid(), SIGKILL); /* the MPI below may wait for the other rank */
}

/* All that rank 1 has to do with others while it is stopped. */
static void exchange_with(int peer)
{
    int in = -1, out = rank;
    for (int i = 0; i < 100; i++)
        MPI_Sendrecv(&out, 1, MPI_INT, peer, 5, &in, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void *memory(const char *kind)
{
    void *p = NULL;
    if (strcmp(kind, "private") == 0)
        p = malloc(BIG);
    else
        MPI_Alloc_mem((MPI_Aint)BIG, MPI_INFO_NULL, &p);
    memset(p, rank + 1, BIG);
    return p;
}

/* A message of rank 1's; it stops while it copies `bytes` for the `after`-th time. */
static void sends(const char *kind, size_t bytes, int after)
{
    char *p = memory(kind);
    int rc = MPI_SUCCESS;
    if (rank == 1) {
        fatal_bytes = bytes;
        fatal_after = after;
        if (is("buffering") || is("pipe"))
            MPI_Send(p, (int)BIG, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        else
            MPI_Ssend(p, (int)BIG, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Request q;
        if (is("buffering"))
            sleep(1); /* nobody receives it */
        slow = bytes == BLOCK;
        double begun = now();
        MPI_Irecv(p, (int)BIG, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &q);
        if (paused)
            exchange_with(2);
        double s = now() - begun;
        rc = MPI_Wait(&q, MPI_STATUS_IGNORE);
        if (!paused)
            told(rc, begun, 4);
        fprintf(result, "midway %s: %s, %s\n", how, s < PAUSE - 1.5 ? "went on" : "DID NOT go on", rc == MPI_SUCCESS && p[0] == 2 && p[BIG - 1] == 2 ? "whole" : "NOT whole");
    } else if (paused) {
        exchange_with(0);
    }
}

/* A message to rank 1, which stops while it copies its part. */
static void receives(const char *kind)
{
    void *p = memory(kind);
    if (rank == 1) {
        fatal_bytes = BLOCK;
        fatal_after = 3;
        MPI_Recv(p, (int)BIG, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 0) {
        double begun = now();
        told(MPI_Ssend(p, (int)BIG, MPI_BYTE, 1, 1, MPI_COMM_WORLD), begun, 4);
    }
}

static void waits(void)
{
    int x = 0, flag = 0, rc = MPI_SUCCESS;
    MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status st[2];
    if (rank == 1) {
        usleep(100000);
        stop();
    }
    if (rank != 0)
        return;
    double begun = now();
    if (is("recv")) {
        rc = MPI_Recv(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (is("any")) {
        rc = MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (is("ssend")) {
        rc = MPI_Ssend(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else if (is("probe")) {
        rc = MPI_Probe(1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (is("iprobe")) {
        while (rc == MPI_SUCCESS && !flag)
            rc = MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    } else if (is("test")) {
        MPI_Irecv(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &q[0]);
        while (rc == MPI_SUCCESS && !flag)
            rc = MPI_Test(&q[0], &flag, MPI_STATUS_IGNORE);
    } else if (is("waitall")) {
        MPI_Irecv(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &q[0]);
        MPI_Issend(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &q[1]);
        rc = MPI_Waitall(2, q, st);
        rc = rc == MPI_ERR_IN_STATUS ? st[0].MPI_ERROR == st[1].MPI_ERROR ? st[0].MPI_ERROR : MPI_ERR_INTERN : MPI_ERR_UNKNOWN;
    } else if (is("alltoall")) {
        int size, *a, *b;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        a = calloc((size_t)size, sizeof *a);
        b = calloc((size_t)size, sizeof *b);
        rc = MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD);
    } else if (is("persistent")) {
        MPI_Recv_init(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &q[0]);
        MPI_Start(&q[0]);
        rc = MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    }
    told(rc, begun, 4);
}

/* More small messages than the ring holds; the last of them wait for room. */
static void floods(void)
{
    int x = 0;
    if (rank == 1)
        sleep(1), stop();
    if (rank != 0)
        return;
    double begun = now();
    for (int i = 0; i < 100000; i++)
        MPI_Send(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    told(MPI_Ssend(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD), begun, 6);
}

/* Small puts or gets of private memory whose owner waits, until one of them is the last that it takes up.  Nothing else of rank 1's copies so many bytes. */
#define ASKED 1000
static void asks(void)
{
    static char mine[ASKED], theirs[ASKED];
    int rc = MPI_SUCCESS, nothing = 0;
    double begun = 0, longest = 0;
    MPI_Win win;
    MPI_Win_create(mine, sizeof mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    memset(mine, rank + 1, sizeof mine);
    memset(theirs, 0, sizeof theirs);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        fatal_bytes = ASKED;
        if (is("taken-get"))
            MPI_Recv(&nothing, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 0) {
        double until = now() + 20;
        coarse = 1;
        do {
            begun = now();
            MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
            if (is("taken-get"))
                MPI_Get(theirs, ASKED, MPI_BYTE, 1, 0, ASKED, MPI_BYTE, win);
            else
                MPI_Put(mine, ASKED, MPI_BYTE, 1, 0, ASKED, MPI_BYTE, win);
            if (!is("taken-unlock"))
                rc = MPI_Win_flush(1, win);
            int unlocked = MPI_Win_unlock(1, win);
            rc = rc == MPI_SUCCESS ? unlocked : rc;
            if (now() - begun > longest)
                longest = now() - begun;
        } while (rc == MPI_SUCCESS && longest < 0.9 * PAUSE && now() < until);
        coarse = 0;
        if (!paused)
            told(rc, begun, 30); /* since it asked: rank 1 may have had to wait for a processor before it took that up */
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Get(theirs, ASKED, MPI_BYTE, 1, 0, ASKED, MPI_BYTE, win);
        MPI_Win_unlock(1, win);
        int whole = theirs[0] == theirs[ASKED - 1] && theirs[0] == (is("taken-get") ? 2 : 1);
        fprintf(result, "midway %s: %s, %s\n", how, longest < 0.9 * PAUSE ? "DID NOT wait" : "waited", rc == MPI_SUCCESS && whole ? "whole" : "NOT whole");
        if (is("taken-get"))
            MPI_Send(&nothing, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
}

/* What a rank has sent before it died arrives; the next receive is told. */
static void left_behind(void)
{
    int x[3] = {-1, -1, -1}, out[3] = {7, 8, 9};
    if (rank == 1) {
        for (int i = 0; i < 3; i++)
            MPI_Send(&out[i], 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        stop();
    }
    if (rank != 0)
        return;
    sleep(2);
    for (int i = 0; i < 3; i++)
        if (MPI_Recv(&x[i], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS || x[i] != out[i])
            fprintf(result, "midway %s: message %d is NOT there\n", how, i);
    double begun = now();
    told(MPI_Recv(&x[0], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), begun, 4);
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "";
    const char *file = argc > 2 ? argv[2] : "/dev/stdout";
    paused = argc > 3 && strcmp(argv[3], "pause") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    result = rank == 0 ? fopen(file, "w") : NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (is("buffering"))
        sends("shared", BIG, 0);
    else if (is("pipe"))
        sends("private", BLOCK, 2);
    else if (is("co-sender"))
        sends("shared", BLOCK, 0);
    else if (is("kernel-sender"))
        sends("private", BLOCK, 0);
    else if (is("co-receiver"))
        receives("shared");
    else if (is("kernel-receiver"))
        receives("private");
    else if (is("flood"))
        floods();
    else if (strncmp(how, "taken-", 6) == 0)
        asks();
    else if (is("left-behind"))
        left_behind();
    else
        waits();
    MPI_Finalize();
    return 0;
}
