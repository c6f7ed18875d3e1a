"""How bytes of addresses leave objects, and come into them, in the calls of library functions.

An address whose bytes are taken apart (read as characters or numbers, written to a file, sent) can come back wherever
bytes are written that are read as an address afterwards.  ``constraints`` keeps all such addresses in one set, BYTES.
Here is what each argument of a call has to do with it.
"""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.calls.calls import region_args
from opi_xform.effects.model import ArgRegion, FunctionEffect
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.types import Type
from opi_xform.memory.extent import extent

READS = {"address": "all", "void": "all", "word": "words", "char": "chars", "number": "numbers"}
"""What a read of bytes finds, by what the argument points to: see ``GraphPointsTo.view``."""


def travels(call: ins.CallInstr, effect: FunctionEffect) -> Iterator[tuple[str, int, bool]]:
    """(what happens, argument, whether to what pointers in its object lead to).

    ``all``, ``words``, ``chars``, ``numbers``: bytes of its object are read; ``put``: bytes are written there;
    ``fill``: where addresses are kept.  Addresses that are printed and scanned: ``formats``.
    """
    copied = {i for flow in effect.flows if flow.kind == "copies" for i in (flow.target, flow.source)}
    made = effect.allocates.into if effect.allocates is not None else None
    for region in effect.reads:
        for i in region_args(region.arg, region.rest, call):
            written = call.call.args[i]
            if (
                not region.rest
                and i not in copied
                and not _is_set(region, i, made)
                and _as_bytes(region, written, effect)
                and not _is_one(region, call, i)
            ):
                yield READS[seen_as(written)], i, region.indirect
    if _blank(effect, call):
        return
    for region in effect.all_writes:
        for i in region_args(region.arg, region.rest, call):
            written = call.call.args[i]
            if _is_set(region, i, made):
                continue
            if (written.type.is_pointer or written.type.is_array) and not _is_one(region, call, i):
                fills = not region.indirect and _as_bytes(region, written, effect) and _leads_to_pointers(written.type)
                yield ("fill" if fills else "put"), i, region.indirect


def _is_set(region: ArgRegion, i: int, made: int | None) -> bool:
    """The pointer that gets new memory, or has memory to be grown: it is read and set as a pointer."""
    return i == made and not region.indirect and [(f.kind, f.value) for f in region.length or ()] == [("const", 8)]


def _blank(effect: FunctionEffect, call: ins.CallInstr) -> bool:
    """What the call writes is one byte that the source names, again and again: no part of an address."""
    f = effect.fills
    if f is None or f.kind == "const":
        return f is not None
    return f.value < len(call.args) and isinstance(call.args[f.value], ins.Const)


def reinterprets(call: ins.CallInstr, target: int, source: int) -> bool:
    """A copy of bytes from one kind of place to another: what were addresses may be none there, and the reverse."""
    given = [_uncast(call.call.args[i]) for i in (target, source)]
    if any(isinstance(e, ast.AddrOf) and isinstance(e.operand, ast.Member) and e.operand.punned for e in given):
        return True
    to, origin = (e.type for e in given)
    return to.pointee != "address" or origin.pointee != "address" or _kind(to) != _kind(origin)


def seen_as(e: ast.Expr) -> str:
    """What an argument points to, as it was before it was cast to be passed."""
    found = _uncast(e).type
    return found.pointee if found.is_pointer or found.is_array else "number"


def _kind(type_: Type) -> str:
    to = type_.elem
    while to is not None and to.is_array:
        to = to.elem
    return "?" if to is None else f"{to.kind} {to.record}"


def _uncast(e: ast.Expr) -> ast.Expr:
    while isinstance(e, ast.Cast) and e.type.is_pointer and (e.operand.type.is_pointer or e.operand.type.is_array):
        e = e.operand
    return e


def _leads_to_pointers(type_: Type) -> bool:
    return type_.elem is not None and type_.elem.is_pointer


def _as_bytes(region: ArgRegion, written: ast.Expr, effect: FunctionEffect) -> bool:
    """Bytes are meant as such: no text, which ends at a zero, and nothing that has a type of the library's."""
    if region.indirect:  # the parts of an iovec; no arguments of a program or of a function
        elem = written.type.elem
        return elem is not None and elem.kind == "record" and "va_list" not in elem.spelling
    if region.length is None:
        return effect.mpi is not None
    return not any(f.kind in ("string", "elem") for f in region.length)


def _is_one(region: ArgRegion, call: ins.CallInstr, i: int) -> bool:
    """The argument is a number in a struct, written as that, and the call stays inside it."""
    e = _uncast(call.call.args[i])
    inside = e.type.is_array
    if isinstance(e, ast.AddrOf):
        e = e.operand
    inside = inside or isinstance(e, ast.Index)
    type_, at = e.type, e
    while type_.is_array and type_.elem is not None:
        type_ = type_.elem
    if type_.kind not in ("int", "float"):
        return False
    member = False
    while isinstance(at, ast.Member) or (isinstance(at, ast.Index) and at.base.type.is_array):
        if isinstance(at, ast.Member) and at.punned:
            return False
        member = member or isinstance(at, ast.Member)
        at = at.base
    if not member or region.length is None:
        return False
    size = _bytes(region, call)
    return inside or any(f.kind == "elem" for f in region.length) or (size is not None and size <= (e.type.size or 0))


def _bytes(region: ArgRegion, call: ins.CallInstr) -> int | None:
    """The length of a region, where it is a number."""
    out = 1
    for f in region.length or ():
        size: int | None = None
        if f.kind == "const":
            size = f.value
        elif f.kind == "arg" and f.value < len(call.args):
            at = call.args[f.value]
            size = at.value if isinstance(at, ins.Const) else None
        elif f.kind == "extent" and f.value < len(call.args):
            size = extent(call.args[f.value])
        if size is None:
            return None
        out *= size
    return out


def records(type_: Type) -> tuple[str, ...]:
    """The struct that a pointer leads to, if it is one."""
    to = type_.elem
    while to is not None and to.is_array:
        to = to.elem
    return (to.record,) if to is not None and to.kind == "record" else ()
