/* section.h - the section in which a thread may touch libopi's state: the one that calls MPI, or the helper in its place (helper.c). */
#ifndef OPI_SECTION_H
#define OPI_SECTION_H

#include "process/base/types.h"

#pragma GCC visibility push(hidden)

/* The section in which the owner thread (or a thread under the mutex) may touch the state. */
extern _Atomic uint32_t opi_helper_busy;
extern _Atomic uint32_t opi_guests; /* threads that want to allocate or free: the owner, where it waits, lets them in.  A hint */
extern _Atomic uint32_t opi_inside_dummy;
extern _Atomic uint32_t *opi_inside;
extern _Thread_local bool opi_helping; /* this thread is the helper */
void opi_enter_wait(void);
void opi_enter_special(void);
void opi_leave_special(void);
void opi_guest_enter(void);
void opi_guest_leave(void);
void opi_guests_by_lock(void);
bool opi_helper_load(void);
void opi_helper_start(void);
void opi_helper_stop(void);
void opi_helper_watch(void);
bool opi_in_section(void);
void opi_helper_fork_init(void);
void opi_kick(int local);

/* What tells threads of a process apart, without a call. */
static inline uintptr_t opi_self(void) {
#if defined(__x86_64__) && !defined(__ILP32__)
    uintptr_t self;
    __asm__("mov %%fs:0, %0" : "=r"(self)); /* the word at its beginning is the address of the thread's block */
    return self;
#elif defined(__aarch64__)
    uintptr_t self;
    __asm__("mrs %0, tpidr_el0" : "=r"(self));
    return self;
#else
    return (uintptr_t)pthread_self();
#endif
}

/* Is the calling thread another than the one that calls MPI? */
static inline bool opi_guest(void) {
    return opi_self() != atomic_load_explicit(&opi.owner, memory_order_relaxed);
}

static inline void opi_enter(void) {
    if (OPI_UNLIKELY(opi.special)) {
        opi_enter_special();
        return;
    }
    /* Only this thread writes it.  The store and the load below may be reordered by the processor; the helper makes up for that with membarrier
     * between its own store and load (helper.c). */
    atomic_store_explicit(opi_inside, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (OPI_UNLIKELY(atomic_load_explicit(&opi_helper_busy, memory_order_acquire)))
        opi_enter_wait();
}

static inline void opi_leave(void) {
    if (OPI_UNLIKELY(opi.special)) {
        opi_leave_special();
        return;
    }
    atomic_store_explicit(opi_inside, 0, memory_order_release); /* release: the helper sees all we did */
}

/* Around calls of the MPI below that may call back into the program (generalised requests, attributes), made while we are inside: MPI calls of the
 * callback must not let the helper in when they leave. */
static inline void opi_below_begin(void) {
    if (opi.threads) /* the mutex stays ours, and counts depth */
        return;
    opi.nested++;
    opi.special = true;
}

static inline void opi_below_end(void) {
    if (!opi.threads)
        opi.special = --opi.nested != 0 || opi.watch;
}

#pragma GCC visibility pop

#endif
