/* check.h - OPI_CHECK: misuse of buffers that change owners is reported at the line that did it.  check.c keeps the books, check_fault.c has the handler
 * of SIGSEGV and its messages, check_line.c finds lines of the source, check_leak.c tells at the end what nobody freed.
 *
 * While it is on, every block starts at a page of its own.  What a rank gave away or freed becomes inaccessible to it (other ranks have mappings of
 * their own), and so do the pages of a taken buffer beyond the bytes that arrived. */
#ifndef OPI_CHECK_H
#define OPI_CHECK_H

#include "process/base/types.h"
#include "shared/places/places.h"

#pragma GCC visibility push(hidden)

enum opi_book_state {
    OPI_B_NONE, /* libopi's own */
    OPI_B_HELD, /* the user owns it */
    OPI_B_GIVEN,
    OPI_B_FREED,
    OPI_B_REACHABLE /* at the program's end: held, and a static variable has its address */
};

/* What is known of one buffer that the user got at some time.  Private to the rank; used under the same exclusion as the pool. */
struct opi_book {
    char *start;    /* the user's pointer; NULL: an empty place of the table */
    char *block;    /* the pool's block: start, or before it (a short message, see opi_check_taken) */
    size_t length;  /* bytes the user may use */
    size_t arrived; /* of a taken buffer; else length */
    char *from, *to; /* inaccessible pages, from == to: none */
    int state;
    int cls;        /* of block */
    bool taken;
    void *born;     /* return addresses of the calls that made the user the owner, */
    void *gone;     /* and that ended it */
};

extern _Thread_local void *opi_check_site; /* return address of the OPI call at work */
extern _Thread_local bool opi_in_library;  /* this thread runs libopi's code, which may touch whatever it finds */

void opi_check_load(void);
void opi_check_begin(void);
size_t opi_check_stride(size_t size);
void opi_check_alloc(void *p, size_t length);
void *opi_check_taken(struct opi_req *r, void *block);
void opi_check_gone(void *p, int state);
void *opi_check_unshifted(void *p, size_t bytes);
void opi_check_given(void *p, void *block);
void opi_check_still(void *p, void *block);
bool opi_check_keep(void *block);
bool opi_check_release(void);
void opi_check_reuse(void *block);
void opi_check_bad(const char *call, const void *p);
void opi_check_use_slow(const char *call, const void *p, size_t bytes);

/* check.c for check_fault.c and check_leak.c */
struct opi_book *opi_book_of(const void *start);
struct opi_book *opi_book_next(size_t *i);
struct opi_book *opi_book_at(const void *address);
void opi_book_open(struct opi_book *b);
bool opi_book_wrote(struct opi_book *b, const char *address);

/* check_line.c */
bool opi_check_line(void **frames, int n, bool exact, char *text, size_t room);
void opi_check_here(char *text, size_t room);

/* check_fault.c */
void opi_check_handler(void);

/* At the top of the calls of opi.h, off their short ways. */
#define OPI_SITE()                                        \
    do {                                                  \
        if (OPI_UNLIKELY(opi.check))                      \
            opi_check_site = __builtin_return_address(0); \
    } while (0)

/* A call of the user names this memory. */
static inline void opi_check_use(const char *call, const void *p, size_t bytes) {
    if (OPI_UNLIKELY(opi.check))
        opi_check_use_slow(call, p, bytes);
}

#pragma GCC visibility pop

#endif
