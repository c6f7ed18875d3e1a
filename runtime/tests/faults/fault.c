/* fault.c HOW STAMP - a job in which something goes wrong.  Three ranks or more.  Built twice, with libopi and with the MPI alone: what the launcher makes of
 * it should be the same.
 *
 * Rank 1 is the one that dies.  Whoever brings that about writes the time (CLOCK_MONOTONIC, ns) to the file STAMP just before. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define BIG ((size_t)64 << 20)

static const char *how, *stamp;
static int rank, size;
static pid_t victim;

/* One write, and nothing is cut off before: another rank may be ended in the middle of this, when the time stands there already. */
static void mark(void)
{
    struct timespec t;
    int f = open(stamp, O_WRONLY | O_CREAT, 0666);
    clock_gettime(CLOCK_MONOTONIC, &t);
    dprintf(f, "%020lld\n", (long long)t.tv_sec * 1000000000 + t.tv_nsec);
    close(f);
}

static void die(void)
{
    mark();
    raise(SIGKILL);
}

static void kill_victim(int after_ms)
{
    usleep((useconds_t)after_ms * 1000);
    mark();
    kill(victim, SIGKILL);
}

static void receive_from(int source)
{
    int nothing;
    MPI_Recv(&nothing, 1, MPI_INT, source, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* nobody sends this */
}

/* In the middle of libopi's part of MPI_Init: linked with --wrap, this stands for the call that libopi makes.  Without libopi nobody calls it. */
int __real_PMPI_Allgather(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
int __wrap_PMPI_Allgather(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c);
int __real_PMPI_Allreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
int __wrap_PMPI_Allreduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c);
static int steps, fatal_step;

static void step(void)
{
    int me;
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (++steps == fatal_step && me == 1)
        die();
}

int __wrap_PMPI_Allgather(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c)
{
    step();
    return __real_PMPI_Allgather(a, n, t, b, m, u, c);
}

int __wrap_PMPI_Allreduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c)
{
    step();
    return __real_PMPI_Allreduce(a, b, n, t, o, c);
}

static void *memory(const char *kind)
{
    void *p = NULL;
    if (strcmp(kind, "private") == 0)
        p = malloc(BIG);
    else
        MPI_Alloc_mem((MPI_Aint)BIG, MPI_INFO_NULL, &p); /* over libopi: in the shared heap */
    memset(p, rank, BIG);
    return p;
}

/* Large messages without end between ranks 0 and 1; rank 2 kills rank 1 in the middle. */
static void stream(const char *kind, int sender)
{
    if (rank > 1) {
        int going;
        if (rank == 2) {
            MPI_Recv(&going, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            kill_victim(60);
        }
        receive_from(1);
    }
    void *p = memory(kind);
    for (int i = 0;; i++) {
        if (rank == sender)
            MPI_Send(p, (int)BIG, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(p, (int)BIG, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 0 && i == 2)
            MPI_Send(&i, 1, MPI_INT, 2, 1, MPI_COMM_WORLD);
    }
}

static int is(const char *name)
{
    return strcmp(how, name) == 0;
}

/* Rank 1 leaves a child behind, in its process group, that keeps its standard output and error open, but not its connection to MPICH's launcher (PMI_FD).
 *
 * That launcher (hydra_pmi_proxy of MPICH 5.0.2) looks for ended processes whenever it hears of anything.  Where it hears of the end of the output first, it
 * may find that the rank has ended before it hears of the end of the connection; then it does not end the other ranks any more, and the job waits for
 * ever, linked with libopi or not.  This way the end of the connection is all there is to hear, and the launcher ends the whole process group. */
static void leave_output_open(void)
{
    const char *connection = getenv("PMI_FD"), *r = getenv("PMI_RANK");
    if (!connection || !r || atoi(r) != 1 || fork() != 0)
        return;
    close(atoi(connection));
    alarm(100); /* whatever happens, it goes */
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "";
    stamp = argc > 2 ? argv[2] : "/dev/null";
    if (strncmp(how, "init", 4) == 0)
        fatal_step = atoi(how + 4);
    if (is("before-init")) {
        const char *r = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
        if (r && atoi(r) == 1)
            die();
    }
    if (is("exit") || is("exit-code"))
        leave_output_open();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (fatal_step) { /* with the MPI alone: the nearest to it */
        if (rank == 1)
            die();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    int me = (int)getpid();
    int *pids = malloc((size_t)size * sizeof *pids);
    MPI_Allgather(&me, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    victim = pids[1];
    free(pids);

    if (is("recv")) {
        if (rank == 0)
            kill_victim(60);
        receive_from(rank == 1 ? 0 : 1);
    } else if (is("any")) {
        if (rank == 0)
            kill_victim(60);
        receive_from(MPI_ANY_SOURCE);
    } else if (is("ssend")) {
        if (rank == 0)
            kill_victim(60);
        if (rank == 1)
            receive_from(0);
        MPI_Ssend(&me, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else if (is("copy-receiver")) {
        stream("shared", 0);
    } else if (is("copy-sender")) {
        stream("shared", 1);
    } else if (is("kernel-receiver")) {
        stream("private", 0);
    } else if (is("kernel-sender")) {
        stream("private", 1);
    } else if (is("collective")) {
        if (rank == 0)
            kill_victim(60);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("finalize")) {
        if (rank == 0)
            kill_victim(60);
    } else if (is("abort")) {
        if (rank == 1) {
            mark();
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        receive_from(1);
    } else if (is("exit")) {
        if (rank == 1) {
            mark();
            exit(0);
        }
        receive_from(1);
    } else if (is("exit-code")) {
        if (rank == 1) {
            mark();
            exit(7);
        }
        receive_from(1);
    } else if (is("exit-all")) {
        MPI_Request q;
        MPI_Isend(&me, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &q);
        if (rank == 0)
            mark();
        exit(0);
    } else if (is("segv")) {
        if (rank == 1) {
            mark();
            raise(SIGSEGV);
        }
        receive_from(1);
    } else if (is("launcher")) { /* whoever started the job kills the launcher when it sees the stamp */
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            mark();
        receive_from(1);
    }
    MPI_Finalize();
    return 0;
}
