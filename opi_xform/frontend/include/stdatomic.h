/* <stdatomic.h> (C11 7.17) in words that the front end follows.  Programs are built with their compiler's own, whose
 * macros are made of built-in functions, which no two compilers have in common.
 *
 * Each argument is evaluated once, as in a function.  An atomic object has any value whenever it is read; what the
 * built-in functions used here do is said in atomics.py. */
#ifndef OPI_XFORM_STDATOMIC_H
#define OPI_XFORM_STDATOMIC_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    memory_order_relaxed,
    memory_order_consume,
    memory_order_acquire,
    memory_order_release,
    memory_order_acq_rel,
    memory_order_seq_cst
} memory_order;

typedef _Atomic _Bool atomic_bool;
typedef _Atomic char atomic_char;
typedef _Atomic signed char atomic_schar;
typedef _Atomic unsigned char atomic_uchar;
typedef _Atomic short atomic_short;
typedef _Atomic unsigned short atomic_ushort;
typedef _Atomic int atomic_int;
typedef _Atomic unsigned int atomic_uint;
typedef _Atomic long atomic_long;
typedef _Atomic unsigned long atomic_ulong;
typedef _Atomic long long atomic_llong;
typedef _Atomic unsigned long long atomic_ullong;
typedef _Atomic uint_least16_t atomic_char16_t;
typedef _Atomic uint_least32_t atomic_char32_t;
typedef _Atomic wchar_t atomic_wchar_t;
typedef _Atomic int_least8_t atomic_int_least8_t;
typedef _Atomic uint_least8_t atomic_uint_least8_t;
typedef _Atomic int_least16_t atomic_int_least16_t;
typedef _Atomic uint_least16_t atomic_uint_least16_t;
typedef _Atomic int_least32_t atomic_int_least32_t;
typedef _Atomic uint_least32_t atomic_uint_least32_t;
typedef _Atomic int_least64_t atomic_int_least64_t;
typedef _Atomic uint_least64_t atomic_uint_least64_t;
typedef _Atomic int_fast8_t atomic_int_fast8_t;
typedef _Atomic uint_fast8_t atomic_uint_fast8_t;
typedef _Atomic int_fast16_t atomic_int_fast16_t;
typedef _Atomic uint_fast16_t atomic_uint_fast16_t;
typedef _Atomic int_fast32_t atomic_int_fast32_t;
typedef _Atomic uint_fast32_t atomic_uint_fast32_t;
typedef _Atomic int_fast64_t atomic_int_fast64_t;
typedef _Atomic uint_fast64_t atomic_uint_fast64_t;
typedef _Atomic intptr_t atomic_intptr_t;
typedef _Atomic uintptr_t atomic_uintptr_t;
typedef _Atomic size_t atomic_size_t;
typedef _Atomic ptrdiff_t atomic_ptrdiff_t;
typedef _Atomic intmax_t atomic_intmax_t;
typedef _Atomic uintmax_t atomic_uintmax_t;
typedef struct {
    _Atomic _Bool set;
} atomic_flag;

#define ATOMIC_BOOL_LOCK_FREE 2
#define ATOMIC_CHAR_LOCK_FREE 2
#define ATOMIC_CHAR16_T_LOCK_FREE 2
#define ATOMIC_CHAR32_T_LOCK_FREE 2
#define ATOMIC_WCHAR_T_LOCK_FREE 2
#define ATOMIC_SHORT_LOCK_FREE 2
#define ATOMIC_INT_LOCK_FREE 2
#define ATOMIC_LONG_LOCK_FREE 2
#define ATOMIC_LLONG_LOCK_FREE 2
#define ATOMIC_POINTER_LOCK_FREE 2
#define ATOMIC_FLAG_INIT { 0 }
#define ATOMIC_VAR_INIT(value) (value)
#define kill_dependency(value) (value)

void atomic_thread_fence(memory_order);
void atomic_signal_fence(memory_order);
_Bool atomic_is_lock_free(const volatile void *);

#define OPI_VALUE(p) __typeof__((void)0, *(p))
#define OPI_PLACE(p) ((OPI_VALUE(p) *)(p))

#define atomic_init(p, v) ((void)(*(p) = (v)))
#define atomic_store(p, v) ((void)(*(p) = (v)))
#define atomic_store_explicit(p, v, order) ((void)(*(p) = (v)), (void)(order))
#define atomic_load(p) ((OPI_VALUE(p))*(p))
#define atomic_load_explicit(p, order) ((void)(order), (OPI_VALUE(p))*(p))
#define atomic_exchange(p, v) __atomic_exchange_n(OPI_PLACE(p), (v), __ATOMIC_SEQ_CST)
#define atomic_exchange_explicit(p, v, order) __atomic_exchange_n(OPI_PLACE(p), (v), __ATOMIC_SEQ_CST)
#define atomic_compare_exchange_strong(p, e, v) __atomic_compare_exchange_n(OPI_PLACE(p), (e), (v), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#define atomic_compare_exchange_weak(p, e, v) __atomic_compare_exchange_n(OPI_PLACE(p), (e), (v), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#define atomic_compare_exchange_strong_explicit(p, e, v, yes, no) __atomic_compare_exchange_n(OPI_PLACE(p), (e), (v), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#define atomic_compare_exchange_weak_explicit(p, e, v, yes, no) __atomic_compare_exchange_n(OPI_PLACE(p), (e), (v), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#define atomic_fetch_add(p, v) __atomic_fetch_add(OPI_PLACE(p), (v), __ATOMIC_SEQ_CST)
#define atomic_fetch_sub(p, v) __atomic_fetch_sub(OPI_PLACE(p), (v), __ATOMIC_SEQ_CST)
#define atomic_fetch_or(p, v) __atomic_fetch_or(OPI_PLACE(p), (v), __ATOMIC_SEQ_CST)
#define atomic_fetch_xor(p, v) __atomic_fetch_xor(OPI_PLACE(p), (v), __ATOMIC_SEQ_CST)
#define atomic_fetch_and(p, v) __atomic_fetch_and(OPI_PLACE(p), (v), __ATOMIC_SEQ_CST)
#define atomic_fetch_add_explicit(p, v, order) __atomic_fetch_add(OPI_PLACE(p), (v), __ATOMIC_SEQ_CST)
#define atomic_fetch_sub_explicit(p, v, order) __atomic_fetch_sub(OPI_PLACE(p), (v), __ATOMIC_SEQ_CST)
#define atomic_fetch_or_explicit(p, v, order) __atomic_fetch_or(OPI_PLACE(p), (v), __ATOMIC_SEQ_CST)
#define atomic_fetch_xor_explicit(p, v, order) __atomic_fetch_xor(OPI_PLACE(p), (v), __ATOMIC_SEQ_CST)
#define atomic_fetch_and_explicit(p, v, order) __atomic_fetch_and(OPI_PLACE(p), (v), __ATOMIC_SEQ_CST)
#define atomic_flag_test_and_set(p) __atomic_exchange_n((_Bool *)&(p)->set, 1, __ATOMIC_SEQ_CST)
#define atomic_flag_test_and_set_explicit(p, order) ((void)(order), atomic_flag_test_and_set(p))
#define atomic_flag_clear(p) ((void)((p)->set = 0))
#define atomic_flag_clear_explicit(p, order) ((void)(order), atomic_flag_clear(p))

#endif
