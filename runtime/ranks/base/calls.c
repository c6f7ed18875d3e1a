/* calls.c - the beginning and the end of MPI, and what belongs to no other file. */
#include "ranks/base/ranks.h"
#include "shared/alignment.h"

#include <stdarg.h>
#include <stdlib.h>

static int begin(const char *call, int wanted) {
    struct opir_rank *me = opir_self;
    if (!me)
        opir_no_rank(call);
    if (me->initialized)
        opir_die("%s: called twice", call);
    me->world_comm = opir_comm_new(me);
    opir_comm_bind(me->world_comm, opir.world, 0, me->world);
    me->initialized = true;
    me->provided = wanted < MPI_THREAD_FUNNELED ? wanted : MPI_THREAD_FUNNELED; /* other threads of a rank do not know their rank */
    return MPI_SUCCESS;
}

EXPORT int MPI_Init(int *argc, char ***argv) {
    (void)argc, (void)argv;
    return begin("MPI_Init", MPI_THREAD_SINGLE);
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int wanted, int *provided) {
    (void)argc, (void)argv;
    begin("MPI_Init_thread", wanted);
    *provided = opir_self->provided;
    return MPI_SUCCESS;
}

EXPORT int MPI_Finalize(void) {
    static const char call[] = "MPI_Finalize";
    struct opir_rank *me = opir_me(call);
    if (me->self_comm)
        opir_attrs_delete(me->self_comm, MPI_COMM_SELF);
    opir_sweep_all(me);
    struct opir_args args = {.kind = OPIR_BARRIER};
    opir_coll(call, MPI_COMM_WORLD, &args, NULL, false);
    opir_sweep_all(me);
    opir_attrs_delete(me->world_comm, MPI_COMM_WORLD);
    me->finalized = true;
    return MPI_SUCCESS;
}

EXPORT int MPI_Initialized(int *flag) {
    *flag = opir_self && opir_self->initialized;
    return MPI_SUCCESS;
}

EXPORT int MPI_Finalized(int *flag) {
    *flag = opir_self && opir_self->finalized;
    return MPI_SUCCESS;
}

EXPORT int MPI_Query_thread(int *provided) {
    *provided = opir_me("MPI_Query_thread")->provided;
    return MPI_SUCCESS;
}

EXPORT int MPI_Is_thread_main(int *flag) {
    *flag = opir_self != NULL; /* the only thread of a rank that knows its rank */
    return MPI_SUCCESS;
}

EXPORT int MPI_Abort(MPI_Comm comm, int code) {
    (void)comm;
    opir_say("MPI_Abort with code %d", code);
    opir_job_abort(code);
}

EXPORT double MPI_Wtime(void) {
    return PMPI_Wtime();
}

EXPORT double MPI_Wtick(void) {
    return PMPI_Wtick();
}

EXPORT int MPI_Pcontrol(const int level, ...) {
    (void)level;
    return MPI_SUCCESS;
}

EXPORT int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *base) {
    opir_me("MPI_Alloc_mem");
    size_t to = opi_alignment(info);
    void *p = NULL;
    if (size < 0)
        return opir_raise(NULL, MPI_ERR_ARG, "MPI_Alloc_mem", "size %lld is negative", (long long)size);
    if (posix_memalign(&p, to > 64 ? to : 64, size ? (size_t)size : 1))
        return opir_raise(NULL, MPI_ERR_NO_MEM, "MPI_Alloc_mem", "no memory for %lld bytes", (long long)size);
    memcpy(base, &p, sizeof p);
    return MPI_SUCCESS;
}

EXPORT int MPI_Free_mem(void *base) {
    free(base);
    return MPI_SUCCESS;
}

/* ---- buffered sends: their data are copied to memory of ours, the program's buffer only says how much it may be ------------------------------------- */

static int attach(const char *call, void *buffer, MPI_Count size) {
    struct opir_rank *me = opir_me(call);
    if (me->bsend_buffer)
        return opir_raise(NULL, MPI_ERR_BUFFER, call, "a buffer is attached already");
    if (size < 0)
        return opir_raise(NULL, MPI_ERR_ARG, call, "size %lld is negative", (long long)size);
    me->bsend_buffer = buffer;
    me->bsend_size = (size_t)size;
    return MPI_SUCCESS;
}

static MPI_Count detach(const char *call, void *address) {
    struct opir_rank *me = opir_me(call);
    memcpy(address, &me->bsend_buffer, sizeof me->bsend_buffer);
    MPI_Count size = (MPI_Count)me->bsend_size;
    me->bsend_buffer = NULL;
    me->bsend_size = 0;
    return size;
}

EXPORT int MPI_Buffer_attach(void *buffer, int size) {
    return attach("MPI_Buffer_attach", buffer, size);
}

EXPORT int MPI_Buffer_detach(void *address, int *size) {
    *size = (int)detach("MPI_Buffer_detach", address);
    return MPI_SUCCESS;
}

#ifdef OPIR_HAS_MPI_Buffer_attach_c
EXPORT int MPI_Buffer_attach_c(void *buffer, MPI_Count size) {
    return attach("MPI_Buffer_attach_c", buffer, size);
}

EXPORT int MPI_Buffer_detach_c(void *address, MPI_Count *size) {
    *size = detach("MPI_Buffer_detach_c", address);
    return MPI_SUCCESS;
}
#endif

/* ---- numbers for Fortran ---------------------------------------------------------------------------------------------------------------------------- */

/* Handles that are numbers are their own; of addresses ours have a number of their own, the MPI's constants theirs. */
#define CONVERSIONS(Type, Name, KIND)                                                           \
    EXPORT MPI_Fint Name##_c2f(Type h) {                                                        \
        if (OPIR_NUMBERS) {                                                                     \
            int n;                                                                              \
            memcpy(&n, &h, sizeof n);                                                           \
            return n;                                                                           \
        }                                                                                       \
        struct opir_obj *o = opir_get(&h, sizeof h, KIND);                                      \
        return o ? opir_obj_c2f(o) + OPIR_F_FIRST : P##Name##_c2f(h);                           \
    }                                                                                           \
    EXPORT Type Name##_f2c(MPI_Fint f) {                                                        \
        Type h;                                                                                 \
        if (OPIR_NUMBERS) {                                                                     \
            memcpy(&h, &f, sizeof f);                                                           \
            return h;                                                                           \
        }                                                                                       \
        struct opir_obj *o = f > OPIR_F_FIRST ? opir_obj_numbered((uint32_t)(f - OPIR_F_FIRST)) : NULL; \
        if (!o)                                                                                 \
            return P##Name##_f2c(f);                                                            \
        opir_put(&h, sizeof h, o);                                                              \
        return h;                                                                               \
    }

#define OPIR_F_FIRST 1000000 /* above the numbers of the MPI's own objects */

#undef MPI_Comm_c2f
#undef MPI_Comm_f2c
#undef MPI_Group_c2f
#undef MPI_Group_f2c
#undef MPI_Request_c2f
#undef MPI_Request_f2c
#undef MPI_Message_c2f
#undef MPI_Message_f2c
#undef MPI_Errhandler_c2f
#undef MPI_Errhandler_f2c
#undef MPI_Win_c2f
#undef MPI_Win_f2c
#undef PMPI_Comm_c2f
#undef PMPI_Comm_f2c
#undef PMPI_Group_c2f
#undef PMPI_Group_f2c
#undef PMPI_Request_c2f
#undef PMPI_Request_f2c
#undef PMPI_Message_c2f
#undef PMPI_Message_f2c
#undef PMPI_Errhandler_c2f
#undef PMPI_Errhandler_f2c
#undef PMPI_Win_c2f
#undef PMPI_Win_f2c

CONVERSIONS(MPI_Comm, MPI_Comm, OPIR_COMM)
CONVERSIONS(MPI_Group, MPI_Group, OPIR_GROUP)
CONVERSIONS(MPI_Request, MPI_Request, OPIR_REQUEST)
CONVERSIONS(MPI_Message, MPI_Message, OPIR_MESSAGE)
CONVERSIONS(MPI_Errhandler, MPI_Errhandler, OPIR_ERRHANDLER)
CONVERSIONS(MPI_Win, MPI_Win, OPIR_WIN)

#ifdef OPIR_HAS_MPI_Comm_toint
#define INTS(Type, Name)                \
    EXPORT int Name##_toint(Type h) {   \
        return Name##_c2f(h);           \
    }                                   \
    EXPORT Type Name##_fromint(int n) { \
        return Name##_f2c(n);           \
    }
INTS(MPI_Comm, MPI_Comm)
INTS(MPI_Group, MPI_Group)
INTS(MPI_Request, MPI_Request)
INTS(MPI_Message, MPI_Message)
INTS(MPI_Errhandler, MPI_Errhandler)
INTS(MPI_Win, MPI_Win)
#endif
