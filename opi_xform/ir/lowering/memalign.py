"""``if (posix_memalign((void **)&p, 64, n) != 0)`` as the test of an assignment that it is.

With ``p = aligned_alloc(64, n)`` for the call it is ``if ((p = aligned_alloc(64, n)) == NULL)``, but that ``p`` stays
what it was where there is no memory (``ir/lowering/expressions.py`` keeps to that).
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from opi_xform.ir.ast import AddrOf, Assign, Binary, Call, Cast, Expr, FuncRef, IntLit, Unary, VarRef
from opi_xform.ir.lowering.shapes import read_again
from opi_xform.ir.lowering.truths import is_null
from opi_xform.ir.types import INT, VOID, Type

ALIGNED = "aligned_alloc"
NAMES = frozenset({"posix_memalign", ALIGNED})
"""Where the program has a function of its own with one of these names, nothing is known of the call."""


def memory_tested(cond: Expr, returned: Collection[str], only_there: Callable[[str], bool]) -> Expr:
    """The condition of an ``if`` in those words; any other condition as it is.

    returned: what the function returns.  That is memory of its caller's, and all that is known of it is that it came by
    ``&p``: what ``p`` was, where there is no memory, would be a second thing that the caller may be given.
    only_there: the variable was nothing, or NULL, before.
    """
    e, fails = cond, True
    while True:
        match e:
            case Unary(op="!", operand=inner):
                e, fails = inner, not fails
            case Binary(op="==" | "!=" as op, left=inner, right=IntLit(value=0)):
                e, fails = inner, fails == (op == "!=")
            case Binary(op="==" | "!=" as op, left=IntLit(value=0), right=inner):
                e, fails = inner, fails == (op == "!=")
            case Call(callee=FuncRef(name="posix_memalign") as callee, args=(where, alignment, size)):
                target = _pointer(where)
                if target is None or _handed_out(target, returned, only_there):
                    return cond
                void = Type("pointer", "void *", 8, elem=VOID)
                takes = Type("function", "", elem=void, params=(alignment.type, size.type))
                call = Call(void, e.span, FuncRef(takes, callee.span, ALIGNED), (alignment, size), e.callee_span)
                given = Assign(target.type, e.span, "", target, call)
                return Binary(INT, cond.span, "==" if fails else "!=", given, IntLit(INT, e.span, 0))
            case _:
                return cond


def _handed_out(target: Expr, returned: Collection[str], only_there: Callable[[str], bool]) -> bool:
    return isinstance(target, VarRef) and target.var in returned and only_there(target.var)


def given_memory(e: Expr) -> bool:
    """The assignment that such a condition tests."""
    return isinstance(e, Assign) and isinstance(e.value, Call) and e.span == e.value.span


def _pointer(where: Expr) -> Expr | None:
    """The pointer whose address is given, written so that it can be named again."""
    while isinstance(where, Cast):
        where = where.operand
    if not isinstance(where, AddrOf):
        return None
    target = where.operand
    # a `void *` is what a function returns, on two ways: that is known of a variable whose address is given
    plain = target.type.is_pointer and not target.type.const and target.type.elem != VOID and not is_null(target)
    again = Assign(target.type, where.span, "", target, target)
    return target if plain and read_again(again) else None
