/* overridden.c - programs that have an MPI_Send of their own, and tools that are linked in and have one.
 *
 * libopi's MPI_ functions are weak, so a program's or a library's own take their places (the profiling interface, MPI 4.1 section 15.2).  Such a function
 * goes on to the PMPI_ name, past libopi: a message of its would not meet a receive that libopi made, nor a wait of its know libopi's requests.  So where one
 * name is not libopi's, libopi does nothing: all messages of the job are the MPI's, as with OPI_DISABLE.
 *
 * Which names are libopi's is told by their addresses: its own functions lie in one section (MPI_NAME), which the linker gives a beginning and an end. */
#include "process/base/error.h"
#include "process/base/overridden.h"

#include <stdint.h>

extern const char __start_opi_names[] __attribute__((visibility("hidden"))), __stop_opi_names[] __attribute__((visibility("hidden")));

typedef void function(void);

/* All that libopi stands in for and whose requests or messages it would miss. */
#define NAMES_OF_ALL \
    NAME(MPI_Send) NAME(MPI_Bsend) NAME(MPI_Ssend) NAME(MPI_Rsend) NAME(MPI_Isend) NAME(MPI_Ibsend) NAME(MPI_Issend) NAME(MPI_Irsend) \
    NAME(MPI_Recv) NAME(MPI_Irecv) NAME(MPI_Mrecv) NAME(MPI_Imrecv) NAME(MPI_Sendrecv) NAME(MPI_Sendrecv_replace) \
    NAME(MPI_Probe) NAME(MPI_Iprobe) NAME(MPI_Mprobe) NAME(MPI_Improbe) \
    NAME(MPI_Wait) NAME(MPI_Waitall) NAME(MPI_Waitany) NAME(MPI_Waitsome) NAME(MPI_Test) NAME(MPI_Testall) NAME(MPI_Testany) NAME(MPI_Testsome) \
    NAME(MPI_Request_free) NAME(MPI_Request_get_status) NAME(MPI_Cancel) NAME(MPI_Start) NAME(MPI_Startall) \
    NAME(MPI_Send_init) NAME(MPI_Bsend_init) NAME(MPI_Ssend_init) NAME(MPI_Rsend_init) NAME(MPI_Recv_init) \
    NAME(MPI_Alltoall) NAME(MPI_Alltoallv) NAME(MPI_Alltoallw) \
    NAME(MPI_Alloc_mem) NAME(MPI_Free_mem) \
    NAME(MPI_Init) NAME(MPI_Init_thread) NAME(MPI_Finalize) \
    NAME(MPI_Comm_dup) NAME(MPI_Comm_dup_with_info) NAME(MPI_Comm_idup) NAME(MPI_Comm_split) NAME(MPI_Comm_split_type) NAME(MPI_Comm_create) \
    NAME(MPI_Comm_create_group) NAME(MPI_Comm_free) NAME(MPI_Comm_disconnect) NAME(MPI_Intercomm_merge) \
    NAME(MPI_Cart_create) NAME(MPI_Cart_sub) NAME(MPI_Graph_create) NAME(MPI_Dist_graph_create) NAME(MPI_Dist_graph_create_adjacent)
#if MPI_VERSION >= 4
#define NAMES_OF_FOUR \
    NAME(MPI_Isendrecv) NAME(MPI_Isendrecv_replace) \
    NAME(MPI_Send_c) NAME(MPI_Bsend_c) NAME(MPI_Ssend_c) NAME(MPI_Rsend_c) NAME(MPI_Isend_c) NAME(MPI_Ibsend_c) NAME(MPI_Issend_c) NAME(MPI_Irsend_c) \
    NAME(MPI_Recv_c) NAME(MPI_Irecv_c) NAME(MPI_Mrecv_c) NAME(MPI_Imrecv_c) NAME(MPI_Sendrecv_c) NAME(MPI_Sendrecv_replace_c) \
    NAME(MPI_Send_init_c) NAME(MPI_Bsend_init_c) NAME(MPI_Ssend_init_c) NAME(MPI_Rsend_init_c) NAME(MPI_Recv_init_c) \
    NAME(MPI_Alltoall_c) NAME(MPI_Alltoallv_c) NAME(MPI_Alltoallw_c)
#else
#define NAMES_OF_FOUR
#endif

/* Where the program is linked with --wrap=MPI_Send, `MPI_Send` here is its __wrap_MPI_Send, which goes on to __real_MPI_Send: that is the one to look at. */
#define NAME(f) extern __typeof__(f) __real_##f __attribute__((weak));
NAMES_OF_ALL NAMES_OF_FOUR
#undef NAME

static const struct {
    const char *name;
    function *address, *wrapped; /* wrapped: NULL where the name is not */
} names[] = {
#define NAME(f) {#f, (function *)f, (function *)__real_##f},
    NAMES_OF_ALL NAMES_OF_FOUR
#undef NAME
};

const char *opi_other;

void opi_overridden(void) {
    for (size_t i = 0; !opi_other && i < sizeof names / sizeof *names; i++) {
        uintptr_t at = (uintptr_t)(names[i].wrapped ? names[i].wrapped : names[i].address);
        if (at < (uintptr_t)__start_opi_names || at >= (uintptr_t)__stop_opi_names)
            opi_other = names[i].name;
    }
}

void opi_not_mine(const char *call) {
    opi_die("%s: %s is a function of the program's or of a tool's that was linked in, and knows nothing of libopi's requests; leave it out, or run the "
            "program that opi-xform has not transformed", call, opi_other);
}
