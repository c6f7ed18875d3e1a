/* request.h - requests: making, polling and ending them (request.c), and the handles that stand for them. */
#ifndef OPI_REQUEST_H
#define OPI_REQUEST_H

#include "process/objects/handle.h"

#pragma GCC visibility push(hidden)

struct opi_req *opi_req_new(int kind);
void opi_req_free(struct opi_req *r);
void opi_free_any(void *p);
void opi_free_owned(void *p);
bool opi_req_poll(struct opi_req *r);
int opi_req_complete(struct opi_req *r, MPI_Status *status);
void opi_req_wait(struct opi_req *r);
void opi_status_set(MPI_Status *status, int source, int tag, size_t bytes, bool cancelled);
void opi_requests_fini(void);
extern struct opi_req opi_sent; /* the request of any send that is complete */
extern struct opi_req *opi_req_pool; /* free ones */
extern struct opi_req *opi_req_chunks[];
#define OPI_REQ_CHUNK 256u

void opi_persist_drop(struct opi_req *r); /* persist.c */

static inline MPI_Request opi_req_handle(const struct opi_req *r) {
    MPI_Request h;
    memset(&h, 0, sizeof h);
    if (sizeof h == sizeof(uint32_t)) {
        uint32_t v = r->handle;
        memcpy(&h, &v, sizeof v);
    } else {
        uintptr_t v = (uintptr_t)r | 1;
        memcpy(&h, &v, sizeof h);
    }
    return h;
}

/* Handles on MPICH are numbers into a table, 1 standing for opi_sent; elsewhere they are addresses.  NULL: no active request of ours. */
static inline struct opi_req *opi_req_of_handle(MPI_Request h) {
    struct opi_req *r;
    if (sizeof h == sizeof(uint32_t)) {
        uint32_t v;
        memcpy(&v, &h, sizeof v);
        if (v == 1)
            return &opi_sent;
        v -= 2;
        if (OPI_UNLIKELY(v / OPI_REQ_CHUNK >= opi.req_chunks))
            return NULL;
        r = &opi_req_chunks[v / OPI_REQ_CHUNK][v % OPI_REQ_CHUNK];
    } else {
        uintptr_t v = 0;
        memcpy(&v, &h, sizeof h);
        r = (struct opi_req *)(v & ~(uintptr_t)1);
    }
    return OPI_LIKELY(r->kind != OPI_R_FREE) ? r : NULL;
}

#pragma GCC visibility pop

#endif
