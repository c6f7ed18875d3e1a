"""What a program made private says of itself: the text that each file with such variables begins with.

It is the part of ``runtime/include/opi_ranks.h`` that a program needs, so that it compiles without libopi.
"""

from __future__ import annotations

from opi_xform.privatize.model import STRUCT, TLS
from opi_xform.rewrite.header import top
from opi_xform.text.edit import ByteEdit
from opi_xform.text.lex import SourceText

_TYPES = """\
#ifndef OPI_RANKS_TYPES
#define OPI_RANKS_TYPES
struct opi_rank_var;
struct opi_rank_ref {
    __SIZE_TYPE__ offset;
    struct opi_rank_var *to;
};
struct opi_rank_var {
    __UINTPTR_TYPE__ at;
    void *first;
    __SIZE_TYPE__ size, align;
    __SIZE_TYPE__ zero;
    const struct opi_rank_ref *refs;
    __SIZE_TYPE__ nrefs;
    __SIZE_TYPE__ offset;
};
struct opi_rank_image {
    int version, form;
    struct opi_rank_var *vars, *vars_end;
    void (*const *inits)(void);
    void (*const *inits_end)(void);
    __UINTPTR_TYPE__ *(*base)(void);
};
#endif
"""

_TLS = (
    """\
/* opi-xform --privatize=tls: each rank has its own copy of the _Thread_local variables (opi_ranks.h, of libopi). */
#ifndef OPI_RANK_INIT
#define OPI_RANK_INIT(x) \\
    static void opi_mine_init_##x(void); \\
    static void (*const opi_mine_call_##x)(void) __attribute__((section("opi_rank_inits"), used)) = \\
        opi_mine_init_##x; \\
    __attribute__((constructor(101))) static void opi_mine_init_##x(void)
"""
    + _TYPES
    + """\
extern void (*const __start_opi_rank_inits[])(void) __attribute__((weak, visibility("hidden")));
extern void (*const __stop_opi_rank_inits[])(void) __attribute__((weak, visibility("hidden")));
extern const struct opi_rank_image opi_rank_image;
__attribute__((weak)) const struct opi_rank_image opi_rank_image = {
    1, 1, 0, 0, __start_opi_rank_inits, __stop_opi_rank_inits, 0};
#endif
"""
)

_STRUCT = (
    """\
/* opi-xform --privatize=struct: OPI_MINE(x) is this rank's own x (opi_ranks.h, of libopi). */
#ifndef OPI_MINE
#define OPI_MINE(x) (*(__typeof__(x) *)(opi_rank_base + opi_mine_of_##x.at))
#define OPI_RANK_PLACE __attribute__((section("opi_rank_vars"), used, aligned(sizeof(void *))))
#define OPI_RANK_VAR(x, zero) struct opi_rank_var opi_mine_of_##x OPI_RANK_PLACE = \\
    {(__UINTPTR_TYPE__)&x, (void *)&x, sizeof(x), __alignof__(x), zero, 0, 0, 0}
#define OPI_RANK_REFS(x) struct opi_rank_var opi_mine_of_##x OPI_RANK_PLACE = \\
    {(__UINTPTR_TYPE__)&x, (void *)&x, sizeof(x), __alignof__(x), 0, \\
     opi_mine_refs_##x, sizeof opi_mine_refs_##x / sizeof *opi_mine_refs_##x, 0}
"""
    + _TYPES
    + """\
extern struct opi_rank_var __start_opi_rank_vars[] __attribute__((weak, visibility("hidden")));
extern struct opi_rank_var __stop_opi_rank_vars[] __attribute__((weak, visibility("hidden")));
extern _Thread_local __UINTPTR_TYPE__ opi_rank_base;
__attribute__((weak)) _Thread_local __UINTPTR_TYPE__ opi_rank_base;
static __UINTPTR_TYPE__ *opi_rank_base_of(void) { return &opi_rank_base; }
extern const struct opi_rank_image opi_rank_image;
__attribute__((weak)) const struct opi_rank_image opi_rank_image = {
    1, 2, __start_opi_rank_vars, __stop_opi_rank_vars, 0, 0, opi_rank_base_of};
#endif
"""
)

_OWN = {TLS: _TLS, STRUCT: _STRUCT}


def form_of(data: bytes) -> str:
    """The form in which a file was made private; '' for one that was not."""
    return next((form for form, own in _OWN.items() if own.partition("\n")[0].encode() in data), "")


def prologue(text: SourceText, form: str) -> ByteEdit | None:
    """The text at the top of a file; None when the file has it."""
    own = _OWN[form]
    if form_of(text.data) == form:
        return None
    start = top(text)
    return ByteEdit(start, start, (-1,), own.encode().replace(b"\n", text.eol))
