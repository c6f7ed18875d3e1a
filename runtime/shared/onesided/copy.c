/* copy.c - long copies between an origin and memory in its reach.
 *
 * On AMD's processors that have AVX2, before family 1Ah (Zen 5), a loop of loads and stores of 32 bytes is used.  memcpy uses `rep movsb` there, which depends on where the two lie within a
 * line and a page: it takes from as long as this loop to 3 times as long.  On Zen 5 it is the loop that takes longer, up to 3 times where the target has read its memory since.
 * What other processors do was not measured, so they copy as they did. */
#include "shared/onesided/onesided.h"

#define RUN ((size_t)128 << 10)

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

#define LINE 64 /* bytes that the stores begin at a multiple of */
#define STEP 128

typedef long stored __attribute__((vector_size(32), may_alias));
typedef long loaded __attribute__((vector_size(32), may_alias, aligned(1)));

static int family(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return 0;
    unsigned base = a >> 8 & 15;
    return (int)(base == 15 ? base + (a >> 20 & 255) : base);
}

static bool by_lines_is_better(void) {
    static _Atomic int better; /* 0: not known yet, 1: no, 2: yes; to ask the processor may cost a visit to who runs a virtual machine */
    int is = atomic_load_explicit(&better, memory_order_relaxed);
    if (OPIW_UNLIKELY(!is)) {
        is = __builtin_cpu_is("amd") && __builtin_cpu_supports("avx2") && family() < 0x1a ? 2 : 1;
        atomic_store_explicit(&better, is, memory_order_relaxed);
    }
    return is == 2;
}

__attribute__((target("avx2"))) static void by_lines(char *to, const char *from, size_t n) {
    size_t head = -(uintptr_t)to % LINE, at = head;
    memcpy(to, from, head);
    for (; at + STEP <= n; at += STEP) {
        const loaded *f = (const loaded *)(from + at);
        stored *t = (stored *)(to + at), a = f[0], b = f[1], c = f[2], d = f[3];
        t[0] = a;
        t[1] = b;
        t[2] = c;
        t[3] = d;
    }
    memcpy(to + at, from + at, n - at);
}
#else
static bool by_lines_is_better(void) {
    return false;
}

static void by_lines(char *to, const char *from, size_t n) {
    memcpy(to, from, n);
}
#endif

/* memcpy takes another way from the size of a processor's own cache on, which was up to 1.4 times as slow as runs within that size.  The last run goes first: what
 * has filled the source from its start on has left its end in that cache. */
static void by_runs(char *to, const char *from, size_t n) {
    for (size_t at = n; at > 0;) {
        size_t m = at < RUN ? at : RUN;
        at -= m;
        memcpy(to + at, from + at, m);
    }
}

void opiw_copy_long(void *to, const void *from, size_t n) {
    uintptr_t ahead = (uintptr_t)to - (uintptr_t)from;
    if (ahead < n || -ahead < n) /* the origin may be in the window, too */
        memmove(to, from, n);
    else if (by_lines_is_better())
        by_lines(to, from, n);
    else if (n <= 2 * RUN)
        memcpy(to, from, n);
    else
        by_runs(to, from, n);
}
