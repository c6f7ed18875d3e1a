/* error.c - error handlers, and raising errors through them. */
#include "ranks/window/win.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *opir_class_name(int class) {
    static const struct {
        int class;
        const char *name;
    } known[] = {
        {MPI_ERR_BUFFER, "MPI_ERR_BUFFER"}, {MPI_ERR_COUNT, "MPI_ERR_COUNT"},       {MPI_ERR_TYPE, "MPI_ERR_TYPE"},     {MPI_ERR_TAG, "MPI_ERR_TAG"},
        {MPI_ERR_COMM, "MPI_ERR_COMM"},     {MPI_ERR_RANK, "MPI_ERR_RANK"},         {MPI_ERR_ROOT, "MPI_ERR_ROOT"},     {MPI_ERR_GROUP, "MPI_ERR_GROUP"},
        {MPI_ERR_OP, "MPI_ERR_OP"},         {MPI_ERR_TOPOLOGY, "MPI_ERR_TOPOLOGY"}, {MPI_ERR_DIMS, "MPI_ERR_DIMS"},     {MPI_ERR_ARG, "MPI_ERR_ARG"},
        {MPI_ERR_OTHER, "MPI_ERR_OTHER"},   {MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE"}, {MPI_ERR_KEYVAL, "MPI_ERR_KEYVAL"}, {MPI_ERR_NO_MEM, "MPI_ERR_NO_MEM"},
        {MPI_ERR_INTERN, "MPI_ERR_INTERN"}, {MPI_ERR_REQUEST, "MPI_ERR_REQUEST"},   {MPI_ERR_IN_STATUS, "MPI_ERR_IN_STATUS"},
        {MPI_ERR_WIN, "MPI_ERR_WIN"},       {MPI_ERR_DISP, "MPI_ERR_DISP"},         {MPI_ERR_SIZE, "MPI_ERR_SIZE"},     {MPI_ERR_ASSERT, "MPI_ERR_ASSERT"},
        {MPI_ERR_RMA_SYNC, "MPI_ERR_RMA_SYNC"}, {MPI_ERR_RMA_RANGE, "MPI_ERR_RMA_RANGE"}, {MPI_ERR_RMA_FLAVOR, "MPI_ERR_RMA_FLAVOR"},
        {MPI_ERR_LOCKTYPE, "MPI_ERR_LOCKTYPE"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].class == class)
            return known[i].name;
    return "error";
}

static struct opir_errh *ours(MPI_Errhandler h) {
    return opir_get(&h, sizeof h, OPIR_ERRHANDLER);
}

static bool predefined(MPI_Errhandler h) {
#ifdef MPI_ERRORS_ABORT
    if (h == MPI_ERRORS_ABORT)
        return true;
#endif
    return h == MPI_ERRORS_ARE_FATAL || h == MPI_ERRORS_RETURN;
}

static bool valid(MPI_Errhandler h) {
    return predefined(h) || (h != MPI_ERRHANDLER_NULL && ours(h));
}

void opir_errh_keep(MPI_Errhandler h) {
    if (!predefined(h))
        atomic_fetch_add_explicit(&ours(h)->refs, 1, memory_order_relaxed);
}

void opir_errh_drop(MPI_Errhandler h) {
    struct opir_errh *e = predefined(h) ? NULL : ours(h);
    if (e && atomic_fetch_sub_explicit(&e->refs, 1, memory_order_acq_rel) == 1) {
        opir_obj_gone(&e->obj);
        free(e);
    }
}

static int raise_on(struct opir_comm *c, int code, const char *call, const char *why) {
    struct opir_rank *me = opir_self;
    if (!c)
        c = me->world_comm;
    MPI_Errhandler h = c->errh;
    if (h == MPI_ERRORS_RETURN)
        return code;
    if (predefined(h)) {
        opir_say("%s: %s: %s", call, opir_class_name(code), why);
        opir_job_abort(code);
    }
    MPI_Comm handle = MPI_COMM_WORLD;
    if (c == me->self_comm)
        handle = MPI_COMM_SELF;
    else if (c != me->world_comm)
        OPIR_PUT(&handle, c);
    int told = code;
    ours(h)->function(&handle, &told);
    return code;
}

int opir_raise(struct opir_comm *c, int code, const char *call, const char *format, ...) {
    char why[512];
    va_list ap;
    va_start(ap, format);
    vsnprintf(why, sizeof why, format, ap);
    va_end(ap);
    return raise_on(c, code, call, why);
}

bool opir_errh_valid(MPI_Errhandler h) {
    return valid(h);
}

/* The same for a window's handler. */
int opir_win_raise(MPI_Errhandler h, MPI_Win win, int code, const char *call, const char *why) {
    if (h == MPI_ERRORS_RETURN)
        return code;
    if (predefined(h)) {
        opir_say("%s: %s: %s", call, opir_class_name(code), why);
        opir_job_abort(code);
    }
    int told = code;
    ours(h)->win_function(&win, &told);
    return code;
}

/* The calls in `serial` of opi_xform/bindings/ranks.toml, one at a time: the MPI below need not take them from several threads whatever it says of itself. */
static pthread_mutex_t serial = PTHREAD_MUTEX_INITIALIZER;

void opir_serial_begin(void) {
    opir_lock(&serial);
}

void opir_serial_end(void) {
    opir_unlock(&serial);
}

void opir_text(int rc, char *text) {
    int n = 0;
    opir_serial_begin();
    if (PMPI_Error_string(rc, text, &n) != MPI_SUCCESS)
        n = 0;
    opir_serial_end();
    text[n] = 0;
}

/* What a call of the MPI below returned, its own codes kept: MPI_Error_string knows them. */
int opir_below(int rc, const char *call) {
    char text[MPI_MAX_ERROR_STRING];
    struct opir_rank *me = opir_self;
    opir_text(rc, text);
    if (!me || !me->world_comm) {
        opir_say("%s: %s", call, text);
        return rc;
    }
    return raise_on(NULL, rc, call, text);
}

/* ---- the calls ------------------------------------------------------------------------------------------------------------------------- */

EXPORT int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler) {
    opir_me("MPI_Comm_create_errhandler");
    struct opir_errh *e = opir_alloc(sizeof *e);
    opir_obj_init(&e->obj, OPIR_ERRHANDLER);
    atomic_init(&e->refs, 1);
    e->function = function;
    OPIR_PUT(errhandler, e);
    return MPI_SUCCESS;
}

EXPORT int MPI_Win_create_errhandler(MPI_Win_errhandler_function *function, MPI_Errhandler *errhandler) {
    opir_me("MPI_Win_create_errhandler");
    struct opir_errh *e = opir_alloc(sizeof *e);
    opir_obj_init(&e->obj, OPIR_ERRHANDLER);
    atomic_init(&e->refs, 1);
    e->win_function = function;
    OPIR_PUT(errhandler, e);
    return MPI_SUCCESS;
}

EXPORT int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
    static const char call[] = "MPI_Comm_set_errhandler";
    struct opir_comm *c = opir_comm_of(opir_me(call), comm);
    if (!c)
        return opir_raise(NULL, MPI_ERR_COMM, call, "invalid communicator");
    if (!valid(errhandler))
        return opir_raise(c, MPI_ERR_ARG, call, "invalid error handler");
    opir_errh_keep(errhandler);
    opir_errh_drop(c->errh);
    c->errh = errhandler;
    return MPI_SUCCESS;
}

EXPORT int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler) {
    static const char call[] = "MPI_Comm_get_errhandler";
    struct opir_comm *c = opir_comm_of(opir_me(call), comm);
    if (!c)
        return opir_raise(NULL, MPI_ERR_COMM, call, "invalid communicator");
    opir_errh_keep(c->errh);
    *errhandler = c->errh;
    return MPI_SUCCESS;
}

EXPORT int MPI_Comm_call_errhandler(MPI_Comm comm, int code) {
    static const char call[] = "MPI_Comm_call_errhandler";
    struct opir_comm *c = opir_comm_of(opir_me(call), comm);
    if (!c)
        return opir_raise(NULL, MPI_ERR_COMM, call, "invalid communicator");
    opir_raise(c, code, call, "error code %d", code);
    return MPI_SUCCESS;
}

EXPORT int MPI_Errhandler_free(MPI_Errhandler *errhandler) {
    static const char call[] = "MPI_Errhandler_free";
    opir_me(call);
    if (!valid(*errhandler))
        return opir_raise(NULL, MPI_ERR_ARG, call, "invalid error handler");
    opir_errh_drop(*errhandler);
    *errhandler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

/* The names of MPI-1. */
#ifdef OPIR_HAS_MPI_Errhandler_create
EXPORT int MPI_Errhandler_create(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler) {
    return MPI_Comm_create_errhandler(function, errhandler);
}
EXPORT int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) {
    return MPI_Comm_set_errhandler(comm, errhandler);
}
EXPORT int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler) {
    return MPI_Comm_get_errhandler(comm, errhandler);
}
#endif
