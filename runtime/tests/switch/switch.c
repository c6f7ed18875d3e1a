/* The switch between stacks (ranks/carrier/switch.h), by itself: it needs no MPI, and with -DALONE no C library and no system, so that an emulator of a processor
 * runs it.  check() is 0 or the line of what was wrong. */
#include "ranks/carrier/switch.h"

#define STACK 16384u
#define TURNS 1000

#define WANT(what) \
    do { \
        if (!(what) && !wrong) \
            wrong = __LINE__; \
    } while (0)

int check(void);

static _Alignas(64) char stacks[3][STACK];
static void *main_sp, *sp[3];
static int wrong, turns[3], running;
static uint64_t first; /* the control of the floating-point unit where the stacks were prepared */

static uint64_t get_control(void) {
#if defined(__x86_64__)
    uint32_t x;
    __asm__ volatile("stmxcsr %0" : "=m"(x));
    return x;
#elif defined(__aarch64__)
    uint64_t x;
    __asm__ volatile("mrs %0, fpcr" : "=r"(x));
    return x;
#else
    return 0;
#endif
}

/* Rounds towards plus infinity. */
static void set_control(uint64_t before) {
#if defined(__x86_64__)
    uint32_t x = (uint32_t)before | 2u << 13;
    __asm__ volatile("ldmxcsr %0" : : "m"(x));
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(before | 1u << 22));
#else
    (void)before;
#endif
}

static void reset_control(uint64_t to) {
#if defined(__x86_64__)
    uint32_t x = (uint32_t)to;
    __asm__ volatile("ldmxcsr %0" : : "m"(x));
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(to));
#else
    (void)to;
#endif
}

#if defined(__aarch64__)

/* Fills all registers that a function keeps for its caller with numbers from `seed`, switches, and says whether they are the same afterwards. */
int kept(void **from, void *to, uint64_t seed);
__asm__(".text\n"
        ".globl kept\n"
        ".type kept, %function\n"
        "kept:\n"
        "    sub sp, sp, #176\n    str x2, [sp, #160]\n"
        "    stp x19, x20, [sp]\n    stp x21, x22, [sp, #16]\n    stp x23, x24, [sp, #32]\n    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n    stp d10, d11, [sp, #112]\n    stp d12, d13, [sp, #128]\n    stp d14, d15, [sp, #144]\n"
        "    add x19, x2, #1\n    add x20, x2, #2\n    add x21, x2, #3\n    add x22, x2, #4\n    add x23, x2, #5\n"
        "    add x24, x2, #6\n    add x25, x2, #7\n    add x26, x2, #8\n    add x27, x2, #9\n    add x28, x2, #10\n    add x29, x2, #11\n"
        "    fmov d8, x19\n    fmov d9, x20\n    fmov d10, x21\n    fmov d11, x22\n    fmov d12, x23\n    fmov d13, x24\n    fmov d14, x25\n    fmov d15, x26\n"
        "    bl opir_switch\n"
        "    ldr x2, [sp, #160]\n    mov x0, #0\n"
        "    sub x1, x19, x2\n    cmp x1, #1\n    b.ne 1f\n    sub x1, x20, x2\n    cmp x1, #2\n    b.ne 1f\n"
        "    sub x1, x21, x2\n    cmp x1, #3\n    b.ne 1f\n    sub x1, x22, x2\n    cmp x1, #4\n    b.ne 1f\n"
        "    sub x1, x23, x2\n    cmp x1, #5\n    b.ne 1f\n    sub x1, x24, x2\n    cmp x1, #6\n    b.ne 1f\n"
        "    sub x1, x25, x2\n    cmp x1, #7\n    b.ne 1f\n    sub x1, x26, x2\n    cmp x1, #8\n    b.ne 1f\n"
        "    sub x1, x27, x2\n    cmp x1, #9\n    b.ne 1f\n    sub x1, x28, x2\n    cmp x1, #10\n    b.ne 1f\n"
        "    sub x1, x29, x2\n    cmp x1, #11\n    b.ne 1f\n"
        "    fmov x1, d8\n    cmp x1, x19\n    b.ne 1f\n    fmov x1, d9\n    cmp x1, x20\n    b.ne 1f\n"
        "    fmov x1, d10\n    cmp x1, x21\n    b.ne 1f\n    fmov x1, d11\n    cmp x1, x22\n    b.ne 1f\n"
        "    fmov x1, d12\n    cmp x1, x23\n    b.ne 1f\n    fmov x1, d13\n    cmp x1, x24\n    b.ne 1f\n"
        "    fmov x1, d14\n    cmp x1, x25\n    b.ne 1f\n    fmov x1, d15\n    cmp x1, x26\n    b.ne 1f\n"
        "    mov x0, #1\n"
        "1:  ldp d14, d15, [sp, #144]\n    ldp d12, d13, [sp, #128]\n    ldp d10, d11, [sp, #112]\n    ldp d8, d9, [sp, #96]\n"
        "    ldp x29, x30, [sp, #80]\n    ldp x27, x28, [sp, #64]\n    ldp x25, x26, [sp, #48]\n    ldp x23, x24, [sp, #32]\n"
        "    ldp x21, x22, [sp, #16]\n    ldp x19, x20, [sp]\n    add sp, sp, #176\n    ret\n"
        ".size kept, .-kept\n");

#else

static int kept(void **from, void *to, uint64_t seed) {
    volatile uint64_t here = seed;
    opir_switch(from, to);
    return here == seed;
}

#endif

static int aligned(void) {
#if defined(__aarch64__)
    uintptr_t stack;
    __asm__ volatile("mov %0, sp" : "=r"(stack));
    return stack % 16 == 0;
#else
    return 1;
#endif
}

/* Two turns in every three each fiber switches to the next, else to main. */
static void fiber(void) {
    int me = running;
    uint64_t control = get_control();
    WANT(control == first);
    WANT(aligned());
    WANT((char *)__builtin_frame_address(0) > stacks[me] && (char *)__builtin_frame_address(0) < stacks[me] + STACK);
    if (me == 1) {
        set_control(control);
        control = get_control();
    }
    for (;;) {
        turns[me]++;
        WANT(get_control() == control);
        running = (me + 1) % 3;
        WANT(kept(&sp[me], turns[me] % 3 ? sp[running] : main_sp, (uint64_t)me << 32 | (uint64_t)turns[me]));
        WANT(running == me);
    }
}

int check(void) {
    uint64_t control = first = get_control();
    uint64_t before = opir_switch_control();
#ifndef OPIR_UCONTEXT
    set_control(control); /* of this nothing is seen on the new stacks */
#endif
    for (int i = 0; i < 3; i++)
        sp[i] = opir_switch_prepare(stacks[i] + STACK, STACK, fiber, before);
    reset_control(control);
    for (int i = 0; i < TURNS; i++) {
        WANT(kept(&main_sp, sp[running], (uint64_t)1 << 40 | (uint64_t)i));
        WANT(get_control() == control);
    }
    int all = turns[0] + turns[1] + turns[2];
    WANT(all >= 3 * TURNS - 6 && all <= 3 * TURNS + 6);
    return wrong;
}

#ifdef ALONE

void *memset(void *to, int c, size_t n) {
    for (volatile char *p = to; n--; p++)
        *p = (char)c;
    return to;
}

_Noreturn void begin(void);

/* Where aarch64 starts: the call exit(check()) of Linux, which a bare emulator cannot do and stops at. */
void begin(void) {
    register long answer __asm__("x0") = check();
    register long call __asm__("x8") = 93;
    __asm__ volatile("svc #0" : : "r"(answer), "r"(call));
    for (;;)
        ;
}

#else

int main(void) {
    return check() ? 1 : 0;
}

#endif
