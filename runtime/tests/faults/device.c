/*
 * Memory that is a GPU's (gpu.c): nobody but the MPI below may touch it. It is inaccessible, but in the calls of the MPI that libopi makes, which stand for one
 * that knows the GPU. Linked with --wrap for those; two ranks.
 *
 * device LIBRARY    the library is loaded when messages have been sent already; LIBRARY "linked": the program is linked with it
 */
#include "../mpi/check.h"

#include <dlfcn.h>
#include <sys/mman.h>

#define ROOM ((size_t)4 << 20)

static char *device;
static int inside = 1; /* until the memory is the device's */

static void open_up(int open)
{
    inside += open ? 1 : -1;
    if (inside == (open ? 1 : 0))
        mprotect(device, ROOM, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

#define WRAP(name, count)                                                                                                                             \
    int __real_##name(const void *, count, MPI_Datatype, int, int, void *, count, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);                     \
    int __wrap_##name(const void *a, count n, MPI_Datatype t, int d, int g, void *b, count m, MPI_Datatype u, int s, int h, MPI_Comm c, MPI_Status *w); \
    int __wrap_##name(const void *a, count n, MPI_Datatype t, int d, int g, void *b, count m, MPI_Datatype u, int s, int h, MPI_Comm c, MPI_Status *w) \
    {                                                                                                                                                 \
        open_up(1);                                                                                                                                   \
        int rc = __real_##name(a, n, t, d, g, b, m, u, s, h, c, w);                                                                                   \
        open_up(0);                                                                                                                                   \
        return rc;                                                                                                                                    \
    }
#if MPI_VERSION >= 4
WRAP(PMPI_Sendrecv_c, MPI_Count)
#endif
WRAP(PMPI_Sendrecv, int)

/* What the program does on the device. */
static void on_device(void *to, const void *from, size_t n)
{
    open_up(1);
    memcpy(to, from, n);
    open_up(0);
}

static char host[ROOM], wanted[ROOM];

/* From or to the device, by several forms; the other side the host's, the device's, or a taken buffer. */
static void exchange(size_t bytes, int from_device, int to_device, int form)
{
    int peer = 1 - world_rank, n = (int)bytes, got = -1;
    char *out = from_device ? device : host, *in = (to_device ? device : host) + ROOM / 2, *taken = NULL;
    unsigned mine = (unsigned)(world_rank + 5 * form), its = (unsigned)(peer + 5 * form);
    MPI_Request q[2];
    MPI_Status status;
    trying("%zu bytes, device to send %d, to receive %d, form %d", bytes, from_device, to_device, form);
    fill(wanted, bytes, mine);
    on_device(out, wanted, bytes);
    switch (form) {
    case 0:
        MPI_Sendrecv(out, n, MPI_CHAR, peer, 1, in, n, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &status);
        break;
    case 1:
        MPI_Irecv(in, n, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &q[0]);
        MPI_Isend(out, n, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &q[1]);
        MPI_Wait(&q[1], MPI_STATUS_IGNORE);
        MPI_Wait(&q[0], &status);
        break;
    case 2: /* comes before it is expected */
        MPI_Issend(out, n, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &q[1]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Recv(in, n, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        MPI_Wait(&q[1], MPI_STATUS_IGNORE);
        break;
    case 3: /* while its rank is in a barrier */
        MPI_Irecv(in, n, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &q[0]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Send(out, n, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&q[0], &status);
        break;
    case 4:
        MPI_Isend(out, n, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &q[1]);
        OPI_Take(&taken, n, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &status);
        MPI_Wait(&q[1], MPI_STATUS_IGNORE);
        break;
    case 5: {
        MPI_Message m;
        MPI_Isend(out, n, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &q[1]);
        MPI_Mprobe(peer, 1, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
        MPI_Mrecv(in, n, MPI_CHAR, &m, &status);
        MPI_Wait(&q[1], MPI_STATUS_IGNORE);
        break;
    }
    case 6:
        on_device(in, wanted, bytes);
        MPI_Sendrecv_replace(in, n, MPI_CHAR, peer, 1, peer, 1, MPI_COMM_WORLD, &status);
        break;
    case 7: {
        MPI_Datatype gaps;
        MPI_Type_vector(n / 4, 2, 4, MPI_CHAR, &gaps);
        MPI_Type_commit(&gaps);
        memset(wanted, 0, bytes);
        on_device(in, wanted, bytes);
        MPI_Sendrecv(out, 1, gaps, peer, 1, in, 1, gaps, peer, 1, MPI_COMM_WORLD, &status);
        MPI_Type_free(&gaps);
        on_device(wanted, in, bytes);
        for (int i = 0; i + 3 < n; i += 4)
            if ((unsigned char)wanted[i] != pattern_byte(its, (size_t)i) || (unsigned char)wanted[i + 1] != pattern_byte(its, (size_t)i + 1) || wanted[i + 2]) {
                CHECK(!"bytes of a layout with gaps");
                break;
            }
        return;
    }
    default: {
        MPI_Alltoall(out, n / 2, MPI_CHAR, in, n / 2, MPI_CHAR, MPI_COMM_WORLD);
        on_device(wanted, in, bytes);
        fill(host, bytes, its);
        CHECK(memcmp(wanted + (size_t)(n / 2) * (size_t)peer, host + (size_t)(n / 2) * (size_t)world_rank, (size_t)(n / 2)) == 0);
        return;
    }
    }
    MPI_Get_count(&status, MPI_CHAR, &got);
    CHECK(got == n && status.MPI_SOURCE == peer);
    on_device(wanted, taken ? taken : in, bytes);
    CHECK(differs(wanted, bytes, its) == 0);
    if (taken)
        OPI_Free(&taken);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {8, 48, 200, 5000, 300000, 1 << 20};
    void *library = NULL;
    start(&argc, &argv);
    device = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int form = 0; form < 9; form++) /* the host's as yet, the same addresses */
        exchange(64, 1, 1, form);
    if (argc > 1 && strcmp(argv[1], "linked") != 0) {
        library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (!library)
            fprintf(stderr, "%s\n", dlerror());
    }
    void (*owns)(void *, size_t);
    *(void **)&owns = dlsym(library ? library : RTLD_DEFAULT, "gpu_owns");
    CHECK(owns != NULL);
    if (!owns)
        return finish("device");
    owns(device, ROOM);
    open_up(0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int form = 0; form < 9; form++)
            for (int which = 0; which < 4; which++)
                exchange(sizes[i], which & 1, which >> 1, form);
    return finish("device");
}
