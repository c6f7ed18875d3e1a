"""Atomic operations that compilers have built in (``__atomic_load_n``, ``__sync_fetch_and_add``, …), in C's own words.

The object is read and written as if it were volatile, so what is read of it is not known, nor what an operation leaves
in it.  Only numbers are followed, and only where the operands may be evaluated twice.  Of the rest, anything may happen
to the operands, which are evaluated once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from opi_xform.ir.ast import (
    AddrOf,
    Assign,
    Binary,
    Cast,
    Comma,
    Conditional,
    Deref,
    Expr,
    FloatLit,
    Index,
    IntLit,
    Member,
    Opaque,
    SizeOf,
    Unary,
    VarRef,
)
from opi_xform.ir.span import Span
from opi_xform.ir.types import Type
from opi_xform.ir.walk import within

_INT = Type("int", "int", 4)
_BYTE = Type("int", "unsigned char", 1, signed=False)
_PLAIN = (VarRef, IntLit, FloatLit, AddrOf, Deref, Index, Member, Cast, Unary, Binary, SizeOf)
_OPS = "(?:add|sub|and|or|xor|nand)"
_CHANGES = re.compile(rf"__(?:atomic|sync)_(?:fetch_(?:and_)?{_OPS}|{_OPS}_(?:and_)?fetch)\Z")
_SIZED = re.compile(r"(__sync_\w+?)_(?:1|2|4|8|16)\Z")

# Operands in the order of clang's tree, which is not that of the text: o an order, which is a constant.
_ATOMIC = {
    "__atomic_load_n": "po",
    "__atomic_load": "por",
    "__atomic_store_n": "pov",
    "__atomic_store": "pos",
    "__atomic_exchange_n": "pov",
    "__atomic_exchange": "posr",
    "__atomic_compare_exchange_n": "poeovo",
    "__atomic_compare_exchange": "poeoso",
    "__atomic_test_and_set": "po",
    "__atomic_clear": "po",
    "__sync_lock_test_and_set": "pv",
    "__sync_lock_release": "p",
    "__sync_bool_compare_and_swap": "pcv",
    "__sync_val_compare_and_swap": "pcv",
}


def is_atomic(name: str) -> bool:
    """Whether a built-in function is one that is known here."""
    return _roles(name) != ""


def atomic(name: str, type_: Type, span: Span, operands: Sequence[Expr]) -> Expr | None:
    """What the operation ``name`` does.  operands: all, in the order of clang's tree.  None: it is not this one."""
    roles = _roles(name)
    if len(roles) != len(operands) or not operands[0].type.is_pointer:
        return None
    if any(not isinstance(x, IntLit) for role, x in zip(roles, operands, strict=True) if role == "o"):
        return None
    done = _understood(_plainly(name), roles, span, operands)
    return done or Opaque(type_, span, "an atomic operation", tuple(operands))


def _plainly(name: str) -> str:
    sized = _SIZED.match(name)  # __sync_fetch_and_add_4
    return sized[1] if sized else name


def _roles(name: str) -> str:
    name = _plainly(name)
    if _CHANGES.match(name):
        return "pov" if name.startswith("__atomic") else "pv"
    return _ATOMIC.get(name, "")


def _understood(name: str, roles: str, span: Span, operands: Sequence[Expr]) -> Expr | None:
    found: dict[str, Expr] = {}
    for role, operand in zip(roles, operands, strict=True):
        if role != "o" and not _is_plain(operand):
            return None
        found[role] = operand
    seen = _BYTE if name in ("__atomic_test_and_set", "__atomic_clear") else found["p"].type.elem
    pointed = [found[role].type.elem for role in "rse" if role in found]
    if seen is None or seen.kind not in ("int", "float") or any(t is None or t.kind != seen.kind for t in pointed):
        return None
    own = replace(seen, volatile=True, atomic=True, const=False)
    return _said(name, span, Deref(own, span, found["p"]), found)


def _said(name: str, span: Span, place: Deref, found: dict[str, Expr]) -> Expr:
    own = place.type

    def through(role: str) -> Expr:
        elem = found[role].type.elem
        return Deref(elem if elem is not None else own, span, found[role])

    def both(first: Expr, then: Expr) -> Expr:
        return Comma(then.type, span, first, then)

    def put(target: Expr, value: Expr) -> Expr:
        return Assign(target.type, span, "", target, value)

    if name.startswith("__atomic_load"):
        return put(through("r"), place) if "r" in found else place
    if name in ("__atomic_clear", "__sync_lock_release"):
        return put(place, IntLit(_INT, span, 0))
    value = found["v"] if "v" in found else through("s") if "s" in found else IntLit(_INT, span, 1)
    if name.startswith("__atomic_store"):
        return put(place, value)
    if "compare" in name:
        same = Binary(_INT, span, "==", place, found["c"] if "c" in found else through("e"))
        yes = both(put(place, value), IntLit(_INT, span, 1))
        no: Expr = IntLit(_INT, span, 0)
        out: Expr = Conditional(_INT, span, same, yes, both(put(through("e"), place), no) if "e" in found else no)
        return both(out, place) if "_val_" in name else out
    # What is there is read, then written.  The value may be a part of an address; what comes out is any number.
    changed = both(Assign(own, span, "+", place, value), put(place, place))
    return both(changed, put(through("r"), place) if "r" in found else place)


def _is_plain(e: Expr) -> bool:
    """It may be evaluated twice: it has no effect, and if it reads something volatile, nobody knows what."""
    return all(isinstance(x, _PLAIN) for x in within(e))
