/* switch.h - changing from one stack to another.
 *
 * opir_switch keeps what a function must keep for its caller on the stack it leaves, stores that stack's pointer, and goes on where the other stack left;
 * opir_switch_prepare makes a new stack look as if it had left at the beginning of a function, with the modes of the floating-point unit (rounding, traps)
 * that opir_switch_control found.  Where there is no assembly for a processor, ucontext does the same, with a system call at each switch, and a new stack
 * begins with the modes that are in force where it is made. */
#ifndef OPIR_SWITCH_H
#define OPIR_SWITCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && !defined(OPIR_UCONTEXT)

void opir_switch(void **from, void *to) __attribute__((visibility("hidden")));

/* rbp, rbx, r12 to r15, and the control words of SSE and x87, which are loaded only where they differ: loading is slow. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl opir_switch\n"
        ".hidden opir_switch\n"
        ".type opir_switch, @function\n"
        "opir_switch:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    subq $8, %rsp\n    stmxcsr (%rsp)\n    fnstcw 4(%rsp)\n"
        "    movl (%rsp), %eax\n    movzwl 4(%rsp), %ecx\n"
        "    movq %rsp, (%rdi)\n    movq %rsi, %rsp\n"
        "    cmpl %eax, (%rsp)\n    jne 1f\n    cmpw %cx, 4(%rsp)\n    je 2f\n"
        "1:  ldmxcsr (%rsp)\n    fldcw 4(%rsp)\n"
        "2:  addq $8, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size opir_switch, .-opir_switch\n");

static uint64_t opir_switch_control(void) {
    uint32_t mxcsr;
    uint16_t x87;
    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return mxcsr | (uint64_t)x87 << 32;
}

static void *opir_switch_prepare(char *top, size_t bytes, void (*function)(void), uint64_t control) {
    (void)bytes;
    uint64_t *sp = (uint64_t *)((uintptr_t)top & ~(uintptr_t)15) - 9;
    memset(sp, 0, 9 * sizeof *sp);
    sp[0] = control;
    sp[7] = (uint64_t)(uintptr_t)function; /* where `ret` goes; above it a null return address */
    return sp;
}

#elif defined(__aarch64__) && !defined(OPIR_UCONTEXT)

void opir_switch(void **from, void *to) __attribute__((visibility("hidden")));
void opir_switch_start(void) __attribute__((visibility("hidden")));

/* x19 to x30, d8 to d15, and the control register of the floating-point unit.  A new stack begins at opir_switch_start, which goes to the function in x19:
 * its return address is null, so that who walks the stack stops there. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl opir_switch\n"
        ".hidden opir_switch\n"
        ".type opir_switch, %function\n"
        "opir_switch:\n"
        "    sub sp, sp, #176\n"
        "    stp x19, x20, [sp]\n    stp x21, x22, [sp, #16]\n    stp x23, x24, [sp, #32]\n    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n    stp d10, d11, [sp, #112]\n    stp d12, d13, [sp, #128]\n    stp d14, d15, [sp, #144]\n"
        "    mrs x9, fpcr\n    str x9, [sp, #160]\n"
        "    mov x9, sp\n    str x9, [x0]\n    mov sp, x1\n"
        "    ldr x9, [sp, #160]\n    msr fpcr, x9\n"
        "    ldp d14, d15, [sp, #144]\n    ldp d12, d13, [sp, #128]\n    ldp d10, d11, [sp, #112]\n    ldp d8, d9, [sp, #96]\n"
        "    ldp x29, x30, [sp, #80]\n    ldp x27, x28, [sp, #64]\n    ldp x25, x26, [sp, #48]\n    ldp x23, x24, [sp, #32]\n"
        "    ldp x21, x22, [sp, #16]\n    ldp x19, x20, [sp]\n"
        "    add sp, sp, #176\n"
        "    ret\n"
        ".size opir_switch, .-opir_switch\n"
        ".globl opir_switch_start\n"
        ".hidden opir_switch_start\n"
        ".type opir_switch_start, %function\n"
        "opir_switch_start:\n"
        "    mov x30, xzr\n    mov x16, x19\n    br x16\n"
        ".size opir_switch_start, .-opir_switch_start\n");

static uint64_t opir_switch_control(void) {
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    return fpcr;
}

static void *opir_switch_prepare(char *top, size_t bytes, void (*function)(void), uint64_t control) {
    (void)bytes;
    uint64_t *sp = (uint64_t *)((uintptr_t)top & ~(uintptr_t)15) - 22;
    memset(sp, 0, 22 * sizeof *sp);
    sp[20] = control;
    sp[0] = (uint64_t)(uintptr_t)function; /* x19 */
    sp[11] = (uint64_t)(uintptr_t)opir_switch_start; /* x30 */
    return sp;
}

#else

#include <stdlib.h>
#include <ucontext.h>

static void opir_switch(void **from, void *to) {
    ucontext_t here; /* on the stack that is left, where it stays until the stack is entered again */
    *from = &here;
    swapcontext(&here, to);
}

static uint64_t opir_switch_control(void) {
    return 0;
}

static void *opir_switch_prepare(char *top, size_t bytes, void (*function)(void), uint64_t control) {
    (void)control;
    ucontext_t *context = (ucontext_t *)((uintptr_t)(top - sizeof *context) & ~(uintptr_t)63);
    if (getcontext(context))
        abort();
    context->uc_stack.ss_sp = top - bytes;
    context->uc_stack.ss_size = (size_t)((char *)context - (top - bytes)) & ~(size_t)63;
    context->uc_link = NULL;
    makecontext(context, function, 0);
    return context;
}

#endif

#endif
