/* error.c - MPI error classes through MPI error handlers, and the lines libopi prints. */
#include "process/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void print_line(const char *format, va_list ap) {
    char line[1024];
    int n = opi.mpi_running ? snprintf(line, sizeof line, "libopi: rank %d: ", opi.world_rank) : snprintf(line, sizeof line, "libopi: ");
    n += vsnprintf(line + n, sizeof line - (size_t)n - 1, format, ap);
    if (n > (int)sizeof line - 2)
        n = (int)sizeof line - 2;
    line[n++] = '\n';
    ssize_t rc = write(2, line, (size_t)n); /* one write: lines of several ranks do not mix */
    (void)rc;
}

/* A launcher that is told to abort may drop what still lies in its pipe: the reason should get through first. */
static void let_launcher_read(void) {
    usleep(50000);
}

void opi_say(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    print_line(format, ap);
    va_end(ap);
}

_Noreturn void opi_die(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    print_line(format, ap);
    va_end(ap);
    let_launcher_read();
    if (opi.mpi_running)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

_Noreturn void opi_uncovered(const char *call) {
    opi_die("%s is not covered by libopi yet; the job ends here rather than lose a message", call);
}

const char *opi_class_name(int class) {
    switch (class) {
    case MPI_ERR_BUFFER: return "MPI_ERR_BUFFER";
    case MPI_ERR_COUNT: return "MPI_ERR_COUNT";
    case MPI_ERR_TYPE: return "MPI_ERR_TYPE";
    case MPI_ERR_TAG: return "MPI_ERR_TAG";
    case MPI_ERR_COMM: return "MPI_ERR_COMM";
    case MPI_ERR_RANK: return "MPI_ERR_RANK";
    case MPI_ERR_REQUEST: return "MPI_ERR_REQUEST";
    case MPI_ERR_TRUNCATE: return "MPI_ERR_TRUNCATE";
    case MPI_ERR_NO_MEM: return "MPI_ERR_NO_MEM";
    case MPI_ERR_ARG: return "MPI_ERR_ARG";
    case MPI_ERR_ASSERT: return "MPI_ERR_ASSERT";
    case MPI_ERR_DISP: return "MPI_ERR_DISP";
    case MPI_ERR_GROUP: return "MPI_ERR_GROUP";
    case MPI_ERR_LOCKTYPE: return "MPI_ERR_LOCKTYPE";
    case MPI_ERR_OP: return "MPI_ERR_OP";
    case MPI_ERR_RMA_RANGE: return "MPI_ERR_RMA_RANGE";
    case MPI_ERR_RMA_SYNC: return "MPI_ERR_RMA_SYNC";
    default: return "error";
    }
}

static bool fatal(MPI_Comm comm) {
    MPI_Errhandler h;
    if (PMPI_Comm_get_errhandler(comm, &h) != MPI_SUCCESS)
        return true;
    bool f = h == MPI_ERRORS_ARE_FATAL;
#ifdef MPI_ERRORS_ABORT
    f = f || h == MPI_ERRORS_ABORT;
#endif
    if (h != MPI_ERRHANDLER_NULL)
        PMPI_Errhandler_free(&h);
    return f;
}

static int raise_on(MPI_Comm comm, int class, const char *call, const char *format, va_list ap) {
    if (fatal(comm)) {
        char why[512];
        vsnprintf(why, sizeof why, format, ap);
        opi_say("%s: %s: %s", call, opi_class_name(class), why);
        let_launcher_read();
    }
    PMPI_Comm_call_errhandler(comm, class);
    return class;
}

/* Raises an error class through a communicator's handler and returns it.  To be called outside enter/leave: the handler is the user's code. */
int opi_raise(MPI_Comm comm, int class, const char *call, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    raise_on(comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm, class, call, format, ap);
    va_end(ap);
    return class;
}

/* For calls without a communicator: MPI_COMM_SELF's handler where the user set one there, else MPI_COMM_WORLD's. */
int opi_raise_world(int class, const char *call, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    if (!opi.mpi_running) {
        char why[512];
        vsnprintf(why, sizeof why, format, ap);
        opi_say("%s: %s: %s", call, opi_class_name(class), why);
    } else {
        raise_on(fatal(MPI_COMM_SELF) ? MPI_COMM_WORLD : MPI_COMM_SELF, class, call, format, ap);
    }
    va_end(ap);
    return class;
}
